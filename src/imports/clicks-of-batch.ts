import type { Item } from './batch-report.ts'
import type { Import, ImportCounts } from './import.ts'
import type { ImportRecord } from './import-record.ts'
import type { ImportStores } from './import-stores.ts'
import type { ImportedClick } from './imported-clicks.ts'

/** The clicks of links that an import took, and how to count them. */
export type ResolvedClicks = {
  readonly clicks: readonly ImportedClick[]
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

  /** Finds the numbers of the links, which are written. In a dry run, all clicks count and none is returned. */
  async resolve({ importRows }: ImportStores, of: Import): Promise<ResolvedClicks> {
    const isDryRun = of.is_dry_run === 1
    const { workspace_id: workspaceId, id, origin } = of
    const refs = this.#records.map(({ ref }) => ref)
    const found = isDryRun ? [] : await importRows.findByRef(workspaceId, origin ?? '', refs)
    const own = found.filter(({ import_id }) => import_id === id)
    const seqs = new Map(own.map(({ ref, link_seq }) => [ref, link_seq]))
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
      const count = record.kind === 'click' ? 1 : record.count
      if (linkSeq !== undefined || isDryRun) taken += count
      else leftOut += count
      if (linkSeq === undefined) return []
      return record.kind === 'click'
        ? [{ kind: 'click', linkSeq, click: record }]
        : [{ kind: 'count', linkSeq, count: record }]
    })
    return {
      clicks,
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

function countOf(click: ImportedClick): number {
  if (click.kind === 'total') return 0
  return click.kind === 'click' ? 1 : click.count.count
}
