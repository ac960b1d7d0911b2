import type { KeyspaceStore } from '../../hosts/index.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure, FaultList } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { FairQueue, FairQueueOptions } from '../../platform/work/fair-queue.ts'
import type { ClickDimension } from '../click.ts'
import type { ClickReports } from '../store/click-reports.ts'
import type { Rest } from '../tally/value-sums.ts'
import { type Bots, type ClickFilter, isWantedClick, isWantedKind } from './click-filter.ts'
import { type Group, type Point, reportGroups, reportSeries, type Total } from './click-report.ts'
import type { ClickScope, RawClick } from './day-of-clicks.ts'
import { daySources } from './day-sources.ts'
import { cutsOf, type Interval, type Quarters, quartersOf } from './intervals.ts'
import { type Period, type PeriodInput, parsePeriod } from './period.ts'

/** Points in one answer, those of all its groups together. */
const POINTS_MAX = 10_000

/** Charts under way read in turns; a dashboard requests several at once. */
export const CHART_QUEUE: FairQueueOptions = {
  work: 'charts',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 32,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

/** An export is under way for as long as its client reads. */
export const EXPORT_QUEUE: FairQueueOptions = {
  work: 'exports',
  concurrency: 256,
  concurrencyPerOwner: 4,
  waitingPerOwnerMax: 4,
  waitingMax: 1_024,
  deadlineMs: 5_000,
}

const GROUPS_BY_DEFAULT = 10

/** Whose clicks are asked for: those of one link, of all links of one domain, or all. */
export type ClickSubject =
  | { readonly kind: 'link' | 'domain'; readonly id: string }
  | { readonly kind: 'workspace' }

type ClickQuery = PeriodInput & {
  readonly filter: ClickFilter
  readonly bots: Bots
}

export type ReportQuery = ClickQuery & {
  /** Days where neither this nor `groupBy` is given. */
  readonly interval?: Interval | undefined
  readonly groupBy?: ClickDimension | undefined
  /** Groups; 10 when left out. */
  readonly limit?: number | undefined
}

/** What was counted, of people and of others, whichever were asked for. */
export type ClickReport = {
  readonly quarters: Quarters
  readonly zone: string
  readonly interval: Interval | undefined
  readonly total: Total
} & (SeriesReport | GroupsReport)

type SeriesReport = { readonly groupBy: undefined; readonly points: readonly Point[] }

type GroupsReport = {
  readonly groupBy: ClickDimension
  readonly groups: readonly Group[]
  readonly rest: Rest
}

export type Clicks = {
  /**
   * @throws {Failure} `not_found`, `validation_failed`
   * @throws {QueueRefusal} when too many charts are waiting
   */
  report(workspaceId: string, subject: ClickSubject, query: ReportQuery): Promise<ClickReport>
  /**
   * The wanted clicks that are still kept, in batches of which some may be empty, oldest day first.
   * Holds one batch at a time, and ends where it is no longer read.
   *
   * @throws {Failure} with the first batch: `not_found`, `validation_failed`
   * @throws {QueueRefusal} with the first batch, when too many exports are waiting
   */
  export(
    workspaceId: string,
    subject: ClickSubject,
    query: ClickQuery,
  ): AsyncIterable<readonly RawClick[]>
}

export function clicks(deps: {
  store: Store<{ readonly keyspaces: KeyspaceStore; readonly reports: ClickReports }>
  clock: Clock
  links: { get(workspaceId: string, id: string): Promise<{ readonly seq: number }> }
  domains: { get(workspaceId: string, id: string): Promise<{ readonly host: string }> }
  /** For which single clicks are kept; 0 for ever. */
  retentionDays: number
  /** For `CHART_QUEUE`. */
  charts: FairQueue
  /** For `EXPORT_QUEUE`. */
  exports: FairQueue
}): Clicks {
  const { store, clock } = deps
  const sources = daySources(deps)

  async function scopeOf(workspaceId: string, subject: ClickSubject): Promise<ClickScope> {
    if (subject.kind === 'workspace') return { kind: 'workspace', workspaceId }
    if (subject.kind === 'link') {
      const { seq } = await deps.links.get(workspaceId, subject.id)
      return { kind: 'link', workspaceId, linkSeq: seq }
    }
    const { host } = await deps.domains.get(workspaceId, subject.id)
    const keyspaceId = await store.read.keyspaces.find(workspaceId, host)
    // Every claim has its keyspace: this one was deleted between the two looks.
    if (keyspaceId === undefined) throw Failure.notFound('Domain')
    return { kind: 'domain', workspaceId, keyspaceId }
  }

  /** @throws {Failure} `validation_failed` */
  function periodOf(query: ClickQuery): Period {
    const faults = new FaultList()
    const period = parsePeriod(query, clock.nowMicros(), faults)
    faults.throwIfAny()
    if (period === undefined) throw new Error('a period without faults is a period')
    return period
  }

  return {
    async report(workspaceId, subject, query) {
      const { zone, ...bounds } = periodOf(query)
      const quarters = quartersOf(bounds)
      const { filter, bots, groupBy, limit = GROUPS_BY_DEFAULT } = query
      const interval = query.interval ?? (groupBy === undefined ? 'day' : undefined)
      const cuts = interval && cutsOf(quarters, zone, interval)
      if (cuts !== undefined) refuseTooManyPoints(cuts.length - 1, groupBy && limit)
      const scope = await scopeOf(workspaceId, subject)
      return deps.charts.run(workspaceId, async (): Promise<ClickReport> => {
        const source = await sources.choose(scope, quarters, filter, groupBy)
        const head = { quarters, zone, interval }
        if (groupBy === undefined) {
          const series = await reportSeries(source, quarters, cuts ?? [])
          return { ...head, groupBy, ...series }
        }
        const groups = await reportGroups(source, quarters, cuts, { bots, limit })
        return { ...head, groupBy, ...groups }
      })
    },

    async *export(workspaceId, subject, query) {
      const { fromMicros, toMicros } = periodOf(query)
      const scope = await scopeOf(workspaceId, subject)
      const release = await deps.exports.acquire(workspaceId)
      try {
        for await (const batch of store.read.reports.rawClicks(scope, fromMicros, toMicros)) {
          yield batch.filter(
            (click) => isWantedKind(query.bots, click) && isWantedClick(query.filter, click),
          )
        }
      } finally {
        release()
      }
    },
  }
}

/** @throws {Failure} `validation_failed` */
function refuseTooManyPoints(points: number, limit: number | undefined): void {
  const count = points * (limit ?? 1)
  if (count <= POINTS_MAX) return
  const each = limit === undefined ? '' : ` for ${limit} values`
  throw Failure.invalid({
    interval: [`would make ${count} points${each}; there can be ${POINTS_MAX} in one answer`],
  })
}
