import type { Conversion } from '../conversions/index.ts'
import type { Item } from './batch-report.ts'
import type { Import, ImportCounts } from './import.ts'
import type { ConversionRecord } from './import-source.ts'
import { numbersOf } from './imported-clicks.ts'
import type { ImportStores } from './store/import-store.ts'

/** The conversions in a batch. */
export class ConversionsOfBatch {
  readonly #records: readonly ConversionRecord[]

  constructor(items: readonly Item[]) {
    this.#records = items.flatMap(({ record }) => (record.kind === 'conversion' ? [record] : []))
  }

  get isEmpty(): boolean {
    return this.#records.length === 0
  }

  /** Returns those of links that this import took; in a dry run with numbers that are no link's. */
  async resolve(
    { importRows }: Pick<ImportStores, 'importRows'>,
    of: Import,
  ): Promise<readonly Conversion[]> {
    if (this.isEmpty) return []
    const refs = new Set(this.#records.map(({ ref }) => ref))
    const numbers = await numbersOf(importRows, of, [...refs])
    return this.#records.flatMap(({ ref, conversion }) => {
      const link_seq = numbers.get(ref)
      if (link_seq === undefined) return []
      const { workspace_id } = of
      return [{ ...conversion, workspace_id, link_seq, idempotency_key: null, fingerprint: null }]
    })
  }

  /** Adds them to the counts of the import: `added` are new to the workspace, the others were left out. */
  count(counts: ImportCounts, added: number): ImportCounts {
    return {
      ...counts,
      conversions: counts.conversions + added,
      conversions_left_out: counts.conversions_left_out + this.#records.length - added,
    }
  }
}
