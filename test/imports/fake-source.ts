import {
  type ImportRecord,
  type ImportSource,
  ImportSourceFault,
  type LinkRecord,
} from '../../src/imports/import-source.ts'
import { NO_VALUES } from '../../src/imports/sources/link-record.ts'

type Unplaced<T> = T extends unknown ? Omit<T, 'resume'> : never
/** A record without what the source adds. */
export type FakeRecord = Unplaced<ImportRecord>

/** A link record with the given values. */
export function linkRecord(
  values: Partial<LinkRecord> & Pick<LinkRecord, 'key'>,
): Unplaced<LinkRecord> {
  return {
    kind: 'link',
    ...NO_VALUES,
    ref: values.key,
    place: `link ${values.key}`,
    domain: 'old.example',
    url: `https://example.com/${encodeURIComponent(values.key)}`,
    created_at: 1_600_000_000_000_000,
    ...values,
  }
}

/** A source that yields the given records, and fails before some of them, once each. */
export class FakeSource implements ImportSource {
  readonly name = 'fake'
  readonly #records: readonly FakeRecord[]
  readonly #faultsAt: Set<number>
  readonly #onRead: (index: number) => unknown

  /** @param onRead called before each record, and awaited */
  constructor(
    records: readonly FakeRecord[],
    faultsAt: Iterable<number> = [],
    onRead: (index: number) => unknown = () => {},
  ) {
    this.#records = records
    this.#onRead = onRead
    this.#faultsAt = new Set(faultsAt)
  }

  async countLinks(): Promise<number> {
    return this.#records.filter(({ kind }) => kind === 'link').length
  }

  async *read({ resume }: { readonly resume: string | undefined }) {
    const first = resume === undefined ? 0 : Number(resume) + 1
    for (const [index, record] of this.#records.entries()) {
      if (index < first) continue
      await this.#onRead(index)
      if (this.#faultsAt.delete(index)) {
        throw new ImportSourceFault('The source is busy.', { isTransient: true })
      }
      yield { ...record, resume: String(index) } as ImportRecord
    }
  }

  async close(): Promise<void> {}
}
