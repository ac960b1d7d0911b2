import type { Item } from './batch-report.ts'
import type { DryRunClicks, Import, ImportCounts } from './import.ts'
import type { ClickCountRecord, ClickRecord, ImportRecord } from './import-source.ts'
import type { ImportStores } from './store/import-store.ts'

/** What a source knows of the clicks of one link. */
export type ImportedClick = {
  /** The number of the link in Terse. */
  readonly linkSeq: number
} & (
  | { readonly kind: 'click'; readonly click: ClickRecord }
  | { readonly kind: 'count'; readonly count: ClickCountRecord }
  /** The source's total, which comes once for a link, before its clicks and counts. */
  | {
      readonly kind: 'total'
      readonly clicks: number
      /** `people` when bots are not counted; undefined when they are. */
      readonly of?: 'people' | undefined
      readonly lastClick: number | null
    }
)

/** The import that the clicks belong to. */
export type ClickImport = { readonly importId: string; readonly workspaceId: string }

/** Clicks as they are spooled. */
export type PreparedClicks = {
  /** Clicks with an impossible instant. They are not spooled, but are part of the link's total. */
  readonly refused: readonly ImportedClick[]
  readonly parts: readonly {
    readonly bucket: number
    /** The number of records. */
    readonly clicks: number
    readonly data: Uint8Array
  }[]
}

/** What became of the clicks of an import. */
export type FinishedClicks = {
  /** The sum of the opening balances: what the totals have more than the clicks and counts. */
  readonly opening: number
  /** The links that have one. */
  readonly openingLinks: number
}

/**
 * Takes the clicks of imports to the counters. The importer calls `spool` in the transaction that also stores its
 * links and its cursor, so each record is spooled exactly once, wherever the importer is killed. Clicks stay in the
 * spool, sorted by their days, until the import has read everything: years of clicks are counted quickly only day by
 * day. From there each reaches the counters exactly once, wherever `finish` is killed.
 *
 * The importer passes clicks only of links that this import took: a link that an earlier import of the same source
 * took, or that was there before, gets no clicks a second time.
 */
export type ImportedClicks<Stores> = {
  /** Reads and encodes clicks, which takes some 20 µs each. Called before the transaction of `spool`. */
  prepare(of: ClickImport, clicks: readonly ImportedClick[]): Promise<PreparedClicks>
  /** Returns what `prepare` would refuse. */
  refusedAmong(clicks: readonly ImportedClick[]): readonly ImportedClick[]
  /** Stores prepared clicks: a few inserts. It may run again, with its transaction. */
  spool(stores: Stores, of: ClickImport, clicks: PreparedClicks): Promise<void>
  /**
   * Gives each link the part of its total that is in no click and no count as its opening balance, and resolves when
   * everything is counted, which takes some seconds for each 100,000 clicks. Called after the last record, and also
   * for an import that was cancelled; called again when it was killed or failed before it returned, and then gives
   * the same result. Of an import that is never finished, no click is counted.
   *
   * @throws the signal's reason when it is aborted; the clicks are counted nevertheless, while a node runs
   */
  finish(of: ClickImport, signal: AbortSignal): Promise<FinishedClicks>
  /** Removes what is spooled and was not counted, of an import that will never be finished. */
  discard(of: ClickImport): Promise<void>
}

/** The clicks of links that an import took, and how to count them. */
type ResolvedClicks = {
  /** In a dry run, with numbers that are no link's. */
  readonly clicks: readonly ImportedClick[]
  /** Returns what a dry run notes of them. */
  dryRun(refused: readonly ImportedClick[]): readonly DryRunClicks[]
  /** Adds them to the counts of the import. */
  count(counts: ImportCounts, refused: readonly ImportedClick[]): ImportCounts
}

type Counted = Extract<ImportRecord, { kind: 'link' | 'click' | 'count' }>

/** The clicks, counts and totals in a batch. */
export class ClicksOfBatch {
  readonly #records: readonly Counted[]

  /** @param taken refs of the links whose totals the import takes */
  constructor(items: readonly Item[], taken: ReadonlySet<string>) {
    this.#records = items.flatMap(({ record }): readonly Counted[] => {
      if (record.kind === 'click' || record.kind === 'count') return [record]
      if (record.kind !== 'link') return []
      return record.clicks !== null && taken.has(record.ref) ? [record] : []
    })
  }

  get isEmpty(): boolean {
    return this.#records.length === 0
  }

  /** Finds the links that this import took, or would take in a dry run. */
  async resolve({ importRows }: ImportStores, of: Import): Promise<ResolvedClicks> {
    const refs = this.#records.map(({ ref }) => ref)
    const seqs = await numbersOf(importRows, of, refs)
    let taken = 0
    let leftOut = 0
    const totals = new Set<number>()
    const clicks = this.#records.flatMap((record): ImportedClick[] => {
      const linkSeq = seqs.get(record.ref)
      if (record.kind === 'link') {
        // A link that the source gives twice has one total.
        if (linkSeq === undefined || record.clicks === null || totals.has(linkSeq)) return []
        totals.add(linkSeq)
        const { clicks, clicks_of: of, last_click: lastClick } = record
        return [{ kind: 'total', linkSeq, clicks, of, lastClick }]
      }
      const count = record.kind === 'click' ? 1 : clicksOf(record)
      if (linkSeq !== undefined) taken += count
      else leftOut += count
      if (linkSeq === undefined) return []
      return record.kind === 'click'
        ? [{ kind: 'click', linkSeq, click: record }]
        : [{ kind: 'count', linkSeq, count: record }]
    })
    return {
      clicks,
      dryRun(refused) {
        const impossible = new Set(refused)
        const refOf = new Map([...seqs].map(([ref, seq]) => [seq, ref]))
        const sums = Map.groupBy(
          clicks.filter((click) => !impossible.has(click)),
          ({ linkSeq }) => linkSeq,
        )
        return [...sums].map(([seq, ofLink]) => ({
          import_id: of.id,
          ref: refOf.get(seq) ?? '',
          clicks: ofLink.reduce((sum, click) => sum + balanceOf(click), 0),
        }))
      },
      count(counts, refused) {
        const impossible = refused.reduce((sum, each) => sum + countOf(each), 0)
        return {
          ...counts,
          clicks: counts.clicks + taken - impossible,
          clicks_left_out: counts.clicks_left_out + leftOut + impossible,
        }
      },
    }
  }
}

/** Returns the numbers of the links; in a dry run any that tell them apart. */
export async function numbersOf(
  importRows: ImportStores['importRows'],
  of: Import,
  refs: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { workspace_id: workspaceId, id, origin } = of
  if (of.is_dry_run === 1) {
    const taken = await importRows.findDryRun(id, refs)
    return new Map([...taken].map((ref, index) => [ref, index]))
  }
  const found = await importRows.findByRef(workspaceId, origin ?? '', refs)
  const own = found.filter(({ import_id }) => import_id === id)
  return new Map(own.map(({ ref, link_seq }) => [ref, link_seq]))
}

/** What a click adds to the opening balance. Totals of Terse count people only. */
function balanceOf(click: ImportedClick): number {
  if (click.kind === 'total') return click.clicks
  if (click.kind === 'count') return -click.count.count
  const { flags = 0, count = 1 } = click.click.stored ?? {}
  return flags === 0 ? -count : 0
}

function clicksOf({ count, bots = 0 }: ClickCountRecord): number {
  return count + bots
}

function countOf(click: ImportedClick): number {
  if (click.kind === 'total') return 0
  return click.kind === 'click' ? 1 : clicksOf(click.count)
}
