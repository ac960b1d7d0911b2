import {
  cutsOf,
  type Interval,
  type PeriodInput,
  parsePeriod,
  QUARTER_MICROS,
  quartersOf,
  refuseTooManyPoints,
} from '../clicks/index.ts'
import type { Actor } from '../identity/index.ts'
import type { LinkDimension, LinkValues } from '../links/index.ts'
import { Failure, FaultList } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import { ScanTooLong } from '../storage/scans.ts'
import type { Store } from '../storage/store.ts'
import type {
  ConversionDimension,
  ConversionFilter,
  ConversionStore,
  ConversionSum,
} from './store/conversion-store.ts'

/** As for charts of clicks. */
export const CONVERSION_QUEUE: FairQueueOptions = {
  work: 'conversions',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 32,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

type GroupedLink = {
  readonly id: string
  readonly seq: number
  readonly domain: string
  readonly key: string
  readonly url: string
}

export type ReportDependencies = {
  readonly store: Store<{ readonly conversions: ConversionStore }>
  readonly clock: Clock
  readonly links: {
    findMany(actor: Actor, ids: readonly string[]): Promise<readonly GroupedLink[]>
    valuesOf(linkSeqs: readonly number[]): Promise<ReadonlyMap<number, LinkValues>>
  }
  /** For `CONVERSION_QUEUE`. */
  readonly lists: FairQueue
}

export type GroupBy = ConversionDimension | LinkDimension | 'link'

type Query = PeriodInput & {
  readonly link?: readonly string[] | undefined
  readonly tag?: readonly string[] | undefined
} & { readonly [D in ConversionDimension]?: readonly string[] | undefined }

type ReportQuery = Query & {
  readonly interval?: Interval | undefined
  readonly group_by?: GroupBy | undefined
  readonly limit?: number | undefined
}

/** What conversions add up to, for each currency. */
export type Sums = {
  readonly conversions: number
  readonly refunds: number
  readonly values: readonly {
    readonly currency: string
    readonly conversions: number
    readonly value: number
    readonly refunds: number
    readonly refunded: number
  }[]
}

type Counted = Sums & { readonly visits: number }

export type ConversionReport = {
  readonly quarters: { readonly from: number; readonly to: number }
  readonly zone: string
  readonly interval: Interval | undefined
  readonly groupBy: GroupBy | undefined
  readonly total: Counted
  /** The quarter hours at which intervals begin. */
  readonly starts: readonly number[] | undefined
  readonly points: readonly Sums[] | undefined
  readonly groups: readonly Group[] | undefined
  readonly rest: (Counted & { readonly others: number }) | undefined
}

export type Group = Counted & {
  readonly value: string
  readonly link: GroupedLink | undefined
  readonly points: readonly Sums[] | undefined
}

const GROUPS_BY_DEFAULT = 10

/** Counts the conversions of workspaces. */
export class ConversionReports {
  readonly #deps: ReportDependencies

  constructor(deps: ReportDependencies) {
    this.#deps = deps
  }

  /**
   * @throws {Failure} `validation_failed`
   * @throws {QueueRefusal} when too many are waiting
   */
  async report(
    actor: Actor,
    query: ReportQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<ConversionReport> {
    const { filter, quarters, zone } = await this.read(actor, query)
    const { group_by: groupBy, interval, limit = GROUPS_BY_DEFAULT } = query
    const cuts = interval && cutsOf(quarters, zone, interval)
    if (cuts !== undefined) refuseTooManyPoints(cuts.length - 1, groupBy && limit)
    const head = { quarters, zone, interval, groupBy, starts: cuts?.slice(0, -1) }
    const { conversions } = this.#deps.store.read
    return this.run(actor, async () => {
      const byQuarter = cuts !== undefined
      const dimension = dimensionOf(groupBy)
      const rows = await conversions.sums(filter, { dimension, byQuarter }, signal)
      const visits = await conversions.visits(filter, undefined, signal)
      const total = { ...sumOf(rows), visits: sumVisits(visits.values()) }
      if (groupBy === undefined) {
        const points = cuts && pointsOf(rows, cuts)
        return { ...head, total, points, groups: undefined, rest: undefined }
      }
      // They may add up to more than all visits: one visit may lead to several events.
      const visitsByValue = await conversions.visits(filter, dimension, signal)
      const named = await this.#named(actor, groupBy, rows, visitsByValue)
      const ranked = [...named.values()].toSorted(byConversions)
      const kept = ranked.slice(0, limit)
      const others = ranked.slice(limit)
      const ids = groupBy === 'link' ? kept.map(({ value }) => value) : []
      const found = ids.length === 0 ? [] : await this.#deps.links.findMany(actor, ids)
      const links = new Map(found.map((link) => [link.id, link]))
      const groups = kept.map((group) => ({
        ...{ value: group.value, link: links.get(group.value) },
        ...{ ...sumOf(group.rows), visits: group.visits },
        points: cuts && pointsOf(group.rows, cuts),
      }))
      const rest = {
        ...sumOf(others.flatMap((group) => group.rows)),
        visits: sumVisits(others.map((group) => group.visits)),
        others: others.length,
      }
      return { ...head, total, points: undefined, groups, rest }
    })
  }

  /**
   * Reads the conditions of a query.
   *
   * @throws {Failure} `validation_failed`
   */
  protected async read(actor: Actor, query: Query) {
    const faults = new FaultList()
    const period = parsePeriod(query, this.#deps.clock.nowMicros(), faults)
    faults.throwIfAny()
    if (period === undefined) throw new Error('parsePeriod returned neither a period nor a fault')
    const quarters = quartersOf(period)
    const { link, tag, event, currency, country, rule, variant, label } = query
    const links = link && (await this.#deps.links.findMany(actor, link))
    const filter: ConversionFilter = {
      workspaceId: actor.workspaceId,
      fromMicros: quarters.from * QUARTER_MICROS,
      toMicros: quarters.to * QUARTER_MICROS,
      linkSeqs: links?.map(({ seq }) => seq),
      tags: tag,
      values: { event, currency, country, rule, variant, label },
    }
    return { filter, quarters, zone: period.zone }
  }

  /** @throws {Failure} `validation_failed` where too many conversions would have to be read */
  protected async run<T>({ workspaceId }: Actor, read: () => Promise<T>): Promise<T> {
    try {
      return await this.#deps.lists.run(workspaceId, read)
    } catch (error) {
      if (!(error instanceof ScanTooLong)) throw error
      throw Failure.invalid({ from: [{ code: 'too_slow', reason: 'conversions' }] })
    }
  }

  /** Adds the rows up by what a report groups by. */
  async #named(
    actor: Actor,
    groupBy: GroupBy,
    rows: readonly ConversionSum[],
    visits: ReadonlyMap<string | number, number>,
  ): Promise<ReadonlyMap<string, NamedGroup>> {
    const namesOf = await this.#namesOf(actor, groupBy, rows)
    const groups = new Map<string, NamedGroup>()
    const groupOf = (name: string) =>
      groups.getOrInsertComputed(name, () => ({ value: name, rows: [], visits: 0 }))
    for (const row of rows) {
      for (const name of namesOf(row.value)) groupOf(name).rows.push(row)
    }
    for (const [value, count] of visits) {
      for (const name of namesOf(value)) groupOf(name).visits += count
    }
    return groups
  }

  /** Returns how to name what the store added up by: links by their ids, or by what they have of a property. */
  async #namesOf(
    { workspaceId }: Actor,
    groupBy: GroupBy,
    rows: readonly ConversionSum[],
  ): Promise<(value: string | number) => readonly string[]> {
    if (dimensionOf(groupBy) !== 'link') return (value) => [String(value)]
    const seqs = [...new Set(rows.map(({ value }) => Number(value)))]
    if (groupBy === 'link') {
      const found = await this.#deps.store.read.conversions.linksOf(workspaceId, seqs)
      const ids = new Map(found.map(({ seq, id }) => [seq, id]))
      return (value) => [ids.get(Number(value)) ?? '']
    }
    const values = await this.#deps.links.valuesOf(seqs)
    return (value) => {
      const names = values.get(Number(value))?.[groupBy as LinkDimension] ?? []
      return names.length === 0 ? [''] : names
    }
  }
}

type NamedGroup = {
  readonly value: string
  readonly rows: ConversionSum[]
  visits: number
}

/** What the store adds up by: properties of links by link. */
function dimensionOf(groupBy: GroupBy | undefined): ConversionDimension | 'link' | undefined {
  switch (groupBy) {
    case 'tag':
    case 'utm_source':
    case 'utm_medium':
    case 'utm_campaign':
      return 'link'
    default:
      return groupBy
  }
}

function byConversions(left: NamedGroup, right: NamedGroup): number {
  const count = ({ rows }: NamedGroup) => rows.reduce((sum, row) => sum + row.conversions, 0)
  return count(right) - count(left) || (left.value < right.value ? -1 : 1)
}

function pointsOf(rows: readonly ConversionSum[], cuts: readonly number[]): readonly Sums[] {
  const starts = cuts.slice(0, -1)
  const points = starts.map((): ConversionSum[] => [])
  let nth = 0
  for (const row of rows.toSorted((left, right) => left.quarter - right.quarter)) {
    while ((starts[nth + 1] ?? Infinity) <= row.quarter) nth += 1
    points[nth]?.push(row)
  }
  return points.map(sumOf)
}

function sumOf(rows: readonly ConversionSum[]): Sums {
  const byCurrency = new Map<string, Sums['values'][number]>()
  let conversions = 0
  let refunds = 0
  for (const row of rows) {
    conversions += row.conversions
    refunds += row.refunds
    if (row.currency === '') continue
    const sum = byCurrency.get(row.currency)
    byCurrency.set(row.currency, {
      currency: row.currency,
      conversions: (sum?.conversions ?? 0) + row.conversions,
      value: (sum?.value ?? 0) + row.amount,
      refunds: (sum?.refunds ?? 0) + row.refunds,
      refunded: (sum?.refunded ?? 0) + row.refunded,
    })
  }
  const values = [...byCurrency.values()].toSorted(
    (left, right) =>
      right.conversions - left.conversions || left.currency.localeCompare(right.currency),
  )
  return { conversions, refunds, values }
}

function sumVisits(visits: Iterable<number>): number {
  let sum = 0
  for (const count of visits) sum += count
  return sum
}
