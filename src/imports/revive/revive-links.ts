import { type LinkBatches, linkVersion } from '../../links/index.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Store } from '../../storage/store.ts'
import { BatchReport } from '../batch-report.ts'
import { advance, type ImportRun } from '../batch-writer.ts'
import { requireImporter } from '../end-import.ts'
import { type Import, ImportFault, LEASE_MICROS, reasonOf } from '../import.ts'
import type { ImportedLinkRecord, ImportRecord, ImportSource } from '../import-source.ts'
import type { ImportStores } from '../store/import-store.ts'
import { mayRevive, type Revival, reviveLink } from './revival.ts'

const PAGE_ROWS = 250

type Reads = Pick<Store<ImportStores>, 'read'>

/**
 * The links of a workspace beside which an earlier import kept something that a link can have now, in the order of their
 * numbers. The position after a link is its number.
 */
export function importedLinks({ read }: Reads, workspaceId: string): ImportSource {
  return {
    name: 'revive',
    countLinks: () => read.importRows.countKept(workspaceId),
    async *read({ resume, signal }) {
      let beyond = resume === undefined ? -1 : Number(resume)
      for (;;) {
        signal.throwIfAborted()
        const kept = await read.importRows.listKept(workspaceId, beyond, PAGE_ROWS)
        const last = kept.at(-1)
        if (last === undefined) return
        beyond = last.link_seq
        const some = kept.filter(({ origin, rest }) => mayRevive(origin, JSON.parse(rest)))
        yield* await recordsOf({ read }, workspaceId, some)
      }
    },
    close: async () => {},
  }
}

type Kept = ImportedLinkRecord['imported']

/** Leaves out links that were deleted. */
async function recordsOf(
  { read }: { readonly read: ImportStores },
  workspaceId: string,
  kept: readonly Kept[],
): Promise<readonly ImportedLinkRecord[]> {
  const seqs = kept.map(({ link_seq }) => link_seq)
  const ids = (await read.linkBatches.findBySeqs(workspaceId, seqs)).map(({ id }) => id)
  const links = await read.links.findMany(workspaceId, ids)
  const bySeq = new Map(links.map((link) => [link.seq, link]))
  return kept.flatMap((imported): ImportedLinkRecord[] => {
    const link = bySeq.get(imported.link_seq)
    if (link === undefined) return []
    const { origin, ref, link_seq: seq } = imported
    const place = `${origin}, ${ref}`
    return [{ kind: 'imported link', resume: String(seq), place, imported, link }]
  })
}

type Dependencies = {
  readonly store: Store<ImportStores>
  readonly clock: Clock
  readonly batches: LinkBatches
}

type Prepared = {
  readonly record: ImportedLinkRecord
  readonly revival: Revival
  /** Undefined where nothing of the link changes. */
  readonly update: Awaited<ReturnType<LinkBatches['prepareUpdate']>> | undefined
}

/** Carries over what is kept beside links: links, what stays kept, report and position of a batch in one transaction. */
export class ReviveWriter {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** As `BatchWriter.write`. */
  async write(run: ImportRun, records: readonly ImportRecord[]): Promise<Import> {
    const links = records.flatMap((record) => (record.kind === 'imported link' ? [record] : []))
    return this.#writeOrSplit(run.import, links)
  }

  /** Where the batch passes a quota, its links are taken up to the quota. */
  async #writeOrSplit(of: Import, records: readonly ImportedLinkRecord[]): Promise<Import> {
    try {
      return await this.#writeOnce(of, records)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'validation_failed') throw error
      if (records.length <= 1) throw new ImportFault(reasonOf(error))
      const half = Math.ceil(records.length / 2)
      const first = await this.#writeOrSplit(of, records.slice(0, half))
      return this.#writeOrSplit(first, records.slice(half))
    }
  }

  /** Reads and judges the links again when one of them, or what is kept beside it, was changed since it was read. */
  async #writeOnce(of: Import, records: readonly ImportedLinkRecord[]): Promise<Import> {
    const resume = records.at(-1)?.resume ?? of.resume
    let current = records
    for (;;) {
      const prepared = await this.#prepare(of, current)
      try {
        return await this.#deps.store.write((stores) =>
          this.#transaction(stores, of, { prepared, resume }),
        )
      } catch (error) {
        if (!(error instanceof LinksChanged)) throw error
        current = await this.#readAgain(of, current)
      }
    }
  }

  async #prepare(of: Import, records: readonly ImportedLinkRecord[]): Promise<Prepared[]> {
    const { batches, clock, store } = this.#deps
    const nowMicros = clock.nowMicros()
    const actor = await requireImporter(store.read, of, { nowMicros, isUse: false })
    const at = {
      nowMs: nowMicros / 1_000,
      faultsOf: (input: Parameters<LinkBatches['faultsOf']>[0]) => batches.faultsOf(input),
    }
    const prepared: Prepared[] = []
    for (const record of records) {
      const { imported, link } = record
      const kept = { origin: imported.origin, rest: JSON.parse(imported.rest) }
      const revival = reviveLink(kept, link, at)
      const isChanged = Object.keys(revival.input).length > 0
      const expected = [linkVersion(link)]
      const update = isChanged
        ? await batches.prepareUpdate(actor, link.id, revival.input, { expected })
        : undefined
      prepared.push({ record, revival, update })
    }
    return prepared
  }

  async #readAgain(
    of: Import,
    records: readonly ImportedLinkRecord[],
  ): Promise<readonly ImportedLinkRecord[]> {
    const { store } = this.#deps
    const { workspace_id: workspaceId } = of
    const seqs = records.map(({ imported }) => imported.link_seq)
    const found = await store.read.importRows.findByLink(workspaceId, seqs)
    const kept = found.flatMap(({ rest, ...imported }) =>
      rest === null ? [] : [{ ...imported, rest }],
    )
    return recordsOf(
      store,
      workspaceId,
      kept.sort((a, b) => a.link_seq - b.link_seq),
    )
  }

  async #transaction(
    stores: ImportStores,
    of: Import,
    at: { readonly prepared: readonly Prepared[]; readonly resume: string | null },
  ): Promise<Import> {
    const nowMicros = this.#deps.clock.nowMicros()
    const actor = await requireImporter(stores, of, { nowMicros, isUse: true })
    const report = new BatchReport(of, nowMicros)
    for (const { record, revival, update } of at.prepared) {
      const { batches } = this.#deps
      const isDryRun = of.is_dry_run === 1
      const written =
        update &&
        (isDryRun
          ? await batches.previewUpdate(stores, actor, update)
          : await batches.update(stores, actor, update))
      if (written instanceof Failure) {
        if (written.code !== 'validation_failed') throw new LinksChanged()
        report.revived(record, { outcome: 'refused', reason: reasonOf(written) })
        continue
      }
      const rest = Object.keys(revival.rest).length === 0 ? null : JSON.stringify(revival.rest)
      const isKept = isDryRun || rest === record.imported.rest
      if (!isKept && !(await stores.importRows.replaceKept(record.imported, rest))) {
        throw new LinksChanged()
      }
      if (update === undefined && revival.notes.length === 0) continue
      const outcome = update === undefined ? 'skipped' : 'updated'
      report.revived(record, { outcome, reason: revival.notes.join(' ') })
    }
    await stores.importRows.append(report.rows)
    const lease_until = nowMicros + LEASE_MICROS
    return advance(stores, of, { ...report.changes(), resume: at.resume, lease_until })
  }
}

/** A link, or what is kept beside it, was changed or deleted since it was read. */
class LinksChanged extends Error {
  override readonly name = 'LinksChanged'
}
