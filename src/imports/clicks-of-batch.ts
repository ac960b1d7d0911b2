import type { Item } from './batch-report.ts'
import type { DryRunClicks, Import, ImportCounts } from './import.ts'
import type { ClickCountRecord, ImportRecord } from './import-record.ts'
import type { ImportStores } from './import-stores.ts'
import type { ImportedClick } from './imported-clicks.ts'

/** The clicks of links that an import took, and how to count them. */
export type ResolvedClicks = {
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
async function numbersOf(
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
