import type { KeyspaceStore } from '../../hosts/index.ts'
import type { Actor } from '../../identity/index.ts'
import type { Link, LinkDimension, LinkValues, RuleSet } from '../../links/index.ts'
import { Failure, FaultList } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { FairQueue, FairQueueOptions } from '../../platform/work/fair-queue.ts'
import { ScanTooLong } from '../../storage/scans.ts'
import type { Store } from '../../storage/store.ts'
import { clickId, instantOfClick } from '../click-id.ts'
import type { ClickReports } from '../store/click-reports.ts'
import type { Rest } from '../tally/value-sums.ts'
import {
  type Bots,
  type ClickFilter,
  type GroupBy,
  isLinkDimension,
  type LinkFilter,
  matchesBots,
  matchesFilter,
  selectByLinks,
  valuesOfLink,
} from './click-filter.ts'
import {
  compareLinks,
  type Group,
  type Point,
  readLinkSeries,
  readOpeningBalance,
  reportGroups,
  reportLinkGroups,
  reportSeries,
  type Total,
} from './click-report.ts'
import type { ClickScope, Counts, RawClick } from './day-of-clicks.ts'
import { chooseDaySource, type DayQuery, RawDays } from './day-source.ts'
import {
  cutsOf,
  type Interval,
  type Period,
  type PeriodInput,
  parsePeriod,
  QUARTER_MICROS,
  type Quarters,
  quartersOf,
  refuseTooManyPoints,
} from './period.ts'
import { type ComparedSplit, compareVariants, VariantVisitors, variantKey } from './variants.ts'

/** The limits for charts: a dashboard requests several at once, and scans take turns at the database. */
export const CHART_QUEUE: FairQueueOptions = {
  work: 'charts',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 32,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

/** The limits for exports: one runs for as long as its client reads. */
export const EXPORT_QUEUE: FairQueueOptions = {
  work: 'exports',
  concurrency: 256,
  concurrencyPerOwner: 4,
  waitingPerOwnerMax: 4,
  waitingMax: 1_024,
  deadlineMs: 5_000,
}

const GROUPS_BY_DEFAULT = 10
/** The default period of sparklines. */
const SPARKLINE_DAYS = 14

/** Selects the clicks of one link, of all links of one domain, or of the whole workspace. */
export type ClickSubject =
  | { readonly kind: 'link' | 'domain'; readonly id: string }
  | { readonly kind: 'workspace' }

type ClickQuery = PeriodInput & {
  readonly filter: ClickFilter
  readonly bots: Bots
}

export type ReportQuery = ClickQuery & {
  /** Defaults to `day` unless `groupBy` is given. */
  readonly interval?: Interval | undefined
  readonly groupBy?: GroupBy | undefined
  /** Selects clicks on these links; all by default. */
  readonly links?: readonly string[] | undefined
  /** Selects clicks on links with these values. */
  readonly linkFilter: LinkFilter
  /** The number of groups; defaults to 10. */
  readonly limit?: number | undefined
}

/** What the work of a request may use. */
type WorkLimits = {
  /** Ends the work at its next step, or before it has begun: its client has gone. */
  readonly signal?: AbortSignal | undefined
}

/** The counts of people and of bots, regardless of which the query selected. */
export type ClickReport = {
  readonly quarters: Quarters
  readonly zone: string
  readonly interval: Interval | undefined
  readonly total: Total
  /** Clicks of the subject that were imported without dates; null when only some of its clicks are selected. */
  readonly opening: number | null
} & (SeriesReport | GroupsReport)

export type GroupedLink = {
  readonly id: string
  readonly seq: number
  readonly domain: string
  readonly key: string
  readonly url: string
}

type SeriesReport = { readonly groupBy: undefined; readonly points: readonly Point[] }

type GroupsReport = {
  readonly groupBy: GroupBy
  /** The links of a report by link that still exist. */
  readonly links: ReadonlyMap<string, GroupedLink>
  readonly groups: readonly Group[]
  readonly rest: Rest
}

/** The counts of links by day. */
export type Sparklines = {
  readonly quarters: Quarters
  readonly zone: string
  /** The quarter hours at which the days begin. */
  readonly starts: readonly number[]
  readonly links: readonly { readonly id: string; readonly points: readonly Counts[] }[]
}

/** The variants of a link compared. */
export type VariantComparison = {
  readonly quarters: Quarters
  readonly zone: string
  /** Each with the id of the rule set that has its rule; null for the link's own. */
  readonly splits: readonly (ComparedSplit & { readonly ruleSet: string | null })[]
}

type RuledLink = Pick<Link, 'seq' | 'workspace_id' | 'domain' | 'rules' | 'rule_set'>

type Dependencies = {
  readonly store: Store<{ readonly keyspaces: KeyspaceStore; readonly reports: ClickReports }>
  readonly clock: Clock
  readonly links: {
    get(actor: Actor, id: string): Promise<RuledLink>
    ruleSetsOf(link: RuledLink): Promise<readonly Pick<RuleSet, 'id' | 'rules'>[]>
    findMany(actor: Actor, ids: readonly string[]): Promise<readonly GroupedLink[]>
    valuesOf(linkSeqs: readonly number[]): Promise<ReadonlyMap<number, LinkValues>>
  }
  readonly conversions: {
    visitsByVariant(
      filter: {
        readonly workspaceId: string
        readonly linkSeqs: readonly number[]
        readonly fromMicros: number
        readonly toMicros: number
        readonly values: Readonly<Record<string, never>>
      },
      signal?: AbortSignal,
    ): Promise<
      readonly { readonly rule: string; readonly variant: string; readonly visits: number }[]
    >
  }
  readonly domains: { get(actor: Actor, id: string): Promise<{ readonly host: string }> }
  /** How long raw clicks are kept; 0 keeps them forever. */
  readonly retentionDays: number
  readonly charts: FairQueue
  readonly exports: FairQueue
}

/** Reports and exports the clicks of workspaces. */
export class Clicks {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @throws {Failure} `not_found`, `validation_failed`
   * @throws {QueueRefusal} when too many charts are waiting
   */
  async report(
    actor: Actor,
    subject: ClickSubject,
    query: ReportQuery,
    { signal }: WorkLimits = {},
  ): Promise<ClickReport> {
    const { zone, ...bounds } = this.#parsePeriod(query)
    const quarters = quartersOf(bounds)
    const { filter, bots, groupBy, limit = GROUPS_BY_DEFAULT } = query
    const interval = query.interval ?? (groupBy === undefined ? 'day' : undefined)
    const cuts = interval && cutsOf(quarters, zone, interval)
    if (cuts !== undefined) refuseTooManyPoints(cuts.length - 1, groupBy && limit)
    const scope = await this.#getScope(actor, subject)
    const count = async (): Promise<ClickReport> => {
      const isOfAnyValue = filter.size === 0 && query.linkFilter.size === 0
      const isWhole = isOfAnyValue && query.links === undefined
      const opening = isWhole ? await readOpeningBalance(this.#deps.store, scope) : null
      const head = { quarters, zone, interval, opening }
      const wanted = query.links && (await this.#deps.links.findMany(actor, query.links))
      const isComparison = isOfAnyValue && groupBy === 'link' && subject.kind === 'workspace'
      if (wanted !== undefined && isComparison) {
        const compared = await compareLinks(this.#deps.store, wanted, quarters, cuts, {
          bots,
          signal,
        })
        return { ...head, groupBy, ...compared, links: byId(wanted) }
      }
      if (isWhole && cuts === undefined && (groupBy === 'link' || isLinkDimension(groupBy))) {
        const whole = { scope, quarters, groupBy, bots, limit, signal }
        const groups = await reportLinkGroups(this.#deps, whole, this.#valuesOf(groupBy))
        return { ...head, groupBy, ...groups, links: await this.#linksOf(actor, groups, groupBy) }
      }
      const source = await chooseDaySource(this.#deps, {
        scope,
        quarters,
        filter,
        groupBy: groupBy === 'link' || isLinkDimension(groupBy) ? undefined : groupBy,
        byLinks: this.#byLinks(query, wanted),
        signal,
      })
      if (groupBy === undefined) {
        const series = await reportSeries(source, quarters, cuts ?? [])
        return { ...head, groupBy, ...series }
      }
      const groups = await reportGroups(source, quarters, cuts, { bots, limit })
      return { ...head, groupBy, ...groups, links: await this.#linksOf(actor, groups, groupBy) }
    }
    return this.#deps.charts.run(actor.workspaceId, count, signal)
  }

  /**
   * Counts clicks of links by day. Links that do not exist are left out.
   *
   * @throws {Failure} `validation_failed`
   * @throws {QueueRefusal} when too many charts are waiting
   */
  async sparklines(
    actor: Actor,
    ids: readonly string[],
    query: PeriodInput,
    { signal }: WorkLimits = {},
  ): Promise<Sparklines> {
    const { zone, ...bounds } = this.#parsePeriod(query, SPARKLINE_DAYS)
    const quarters = quartersOf(bounds)
    const cuts = cutsOf(quarters, zone, 'day')
    refuseTooManyPoints((cuts.length - 1) * ids.length, undefined, 'from')
    const links = await this.#deps.links.findMany(actor, ids)
    const count = async () => {
      const seqs = links.map(({ seq }) => seq)
      const series = await readLinkSeries(this.#deps.store, seqs, cuts, signal)
      const bySeq = new Map(series.map(({ linkSeq, points }) => [linkSeq, points]))
      const ofLinks = links.map(({ id, seq }) => ({ id, points: bySeq.get(seq) ?? [] }))
      return { quarters, zone, starts: cuts.slice(0, -1), links: ofLinks }
    }
    return this.#deps.charts.run(actor.workspaceId, count, signal)
  }

  /**
   * Reads the selected clicks that are still kept, oldest day first. Batches may be empty. Holds one batch
   * in memory at a time, and stops when the caller stops reading.
   *
   * @throws {Failure} with the first batch: `not_found`, `validation_failed`
   * @throws {QueueRefusal} with the first batch, when too many exports are waiting
   */
  async *export(
    actor: Actor,
    subject: ClickSubject,
    query: ClickQuery,
    { signal }: WorkLimits = {},
  ): AsyncGenerator<readonly RawClick[]> {
    const { store, exports } = this.#deps
    const { fromMicros, toMicros } = this.#parsePeriod(query)
    const scope = await this.#getScope(actor, subject)
    const release = await exports.acquire(actor.workspaceId, signal)
    try {
      for await (const batch of store.read.reports.rawClicks(scope, fromMicros, toMicros)) {
        yield batch.filter(
          (click) => matchesBots(query.bots, click) && matchesFilter(query.filter, click),
        )
      }
    } finally {
      release()
    }
  }

  /**
   * Compares the variants of the link's rules, and of those of rule sets behind them, by their visitors. Reads the single
   * clicks.
   *
   * @throws {Failure} `not_found`; `validation_failed`, also where single clicks are too old or too many
   * @throws {QueueRefusal} when too many charts are waiting
   */
  async compareVariants(
    actor: Actor,
    id: string,
    query: PeriodInput,
    { signal }: WorkLimits = {},
  ): Promise<VariantComparison> {
    const { zone, ...bounds } = this.#parsePeriod(query)
    const quarters = quartersOf(bounds)
    const { store, links, charts } = this.#deps
    const { workspaceId } = actor
    const link = await links.get(actor, id)
    const own = { id: null, rules: link.rules ?? [] }
    const lists = [own, ...(await links.ruleSetsOf(link))]
    const hasSplit = lists.some(({ rules }) => rules.some(({ then }) => then.split !== undefined))
    if (!hasSplit) return { quarters, zone, splits: [] }
    const scope = { kind: 'link', workspaceId, linkSeq: link.seq } as const
    const count = async () => {
      const raw = new RawDays(this.#deps, { scope, quarters, signal }, new Set(['variant']))
      await raw.count()
      return raw.read(async (fromMicros, toMicros, limits) => {
        const counted = new VariantVisitors()
        const batches = store.read.reports.rawClicks(scope, fromMicros, toMicros, limits)
        for await (const batch of batches) counted.add(batch)
        return counted
      })
    }
    const visitors = await charts.run(workspaceId, count, signal)
    const converted = await this.#convertedVisits(actor, link.seq, quarters, signal)
    const splits = lists.flatMap(({ id: ruleSet, rules }) =>
      compareVariants(rules, visitors, converted, bounds.toMicros).map((split) => ({
        ...split,
        ruleSet,
      })),
    )
    return { quarters, zone, splits }
  }

  /** Returns the visits of each variant that led to a conversion; null where the actor may not see conversions. */
  async #convertedVisits(
    { workspaceId, permissions }: Actor,
    linkSeq: number,
    { from, to }: Quarters,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, number> | null> {
    if (!permissions.has('conversions.view')) return null
    const filter = {
      ...{ workspaceId, linkSeqs: [linkSeq], values: {} },
      ...{ fromMicros: from * QUARTER_MICROS, toMicros: to * QUARTER_MICROS },
    }
    try {
      const visits = await this.#deps.conversions.visitsByVariant(filter, signal)
      return new Map(visits.map((each) => [variantKey(each.rule, each.variant), each.visits]))
    } catch (error) {
      if (!(error instanceof ScanTooLong)) throw error
      throw Failure.invalid({ from: [{ code: 'too_slow', reason: 'conversions' }] })
    }
  }

  /**
   * Finds a raw click on a link. Reads the clicks of its day, as an export does.
   *
   * @throws {Failure} `not_found` for one that does not exist, or is no longer kept
   * @throws {QueueRefusal} when too many exports are waiting
   */
  async find(actor: Actor, link: { readonly seq: number }, id: string): Promise<RawClick> {
    const { store, exports } = this.#deps
    const at = instantOfClick(id)
    if (at === undefined) throw Failure.notFound('Click')
    const { workspaceId } = actor
    const scope = { kind: 'link', workspaceId, linkSeq: link.seq } as const
    return exports.run(workspaceId, async () => {
      for await (const batch of store.read.reports.rawClicks(scope, at, at + 1)) {
        const found = batch.find((click) => clickId(click) === id)
        if (found !== undefined) return found
      }
      throw Failure.notFound('Click')
    })
  }

  /** Returns the links of a report by link that still exist. */
  async #linksOf(
    actor: Actor,
    { groups }: { readonly groups: readonly Group[] },
    groupBy: GroupBy,
  ): Promise<ReadonlyMap<string, GroupedLink>> {
    const ids = groupBy === 'link' ? groups.map(({ value }) => value) : []
    return byId(ids.length === 0 ? [] : await this.#deps.links.findMany(actor, ids))
  }

  /** Looks up what links are counted by: themselves, or their values. */
  #valuesOf(groupBy: 'link' | LinkDimension) {
    const { links, store } = this.#deps
    return async (linkSeqs: readonly number[]): Promise<ReadonlyMap<number, readonly string[]>> => {
      if (groupBy !== 'link') {
        const found = await links.valuesOf(linkSeqs)
        return new Map([...found].map(([seq, values]) => [seq, valuesOfLink(values, groupBy)]))
      }
      const ids = await store.read.reports.linkIds(linkSeqs)
      return new Map([...ids].map(([linkSeq, id]) => [linkSeq, [id]]))
    }
  }

  /** Undefined when a report does not depend on the links of clicks. */
  #byLinks(
    { filter, groupBy, linkFilter }: ReportQuery,
    links: readonly GroupedLink[] | undefined,
  ): DayQuery['byLinks'] {
    const names = new Set<string>(linkFilter.keys())
    if (links !== undefined || groupBy === 'link') names.add('link')
    if (isLinkDimension(groupBy)) names.add(groupBy)
    if (names.size === 0) return undefined
    const conditions = {
      linkSeqs: links && new Set(links.map(({ seq }) => seq)),
      links: linkFilter,
    }
    const valuesOf = (linkSeqs: readonly number[]) => this.#deps.links.valuesOf(linkSeqs)
    return {
      names: [...names],
      selection: selectByLinks({ filter, groupBy }, conditions, valuesOf),
    }
  }

  /** @throws {Failure} `not_found` */
  async #getScope(actor: Actor, subject: ClickSubject): Promise<ClickScope> {
    const { store, links, domains } = this.#deps
    const { workspaceId } = actor
    if (subject.kind === 'workspace') return { kind: 'workspace', workspaceId }
    if (subject.kind === 'link') {
      const { seq } = await links.get(actor, subject.id)
      return { kind: 'link', workspaceId, linkSeq: seq }
    }
    const { host } = await domains.get(actor, subject.id)
    const keyspaceId = await store.read.keyspaces.find(workspaceId, host)
    // Every claim has a keyspace, so the claim was deleted between the two reads.
    if (keyspaceId === undefined) throw Failure.notFound('Domain')
    return { kind: 'domain', workspaceId, keyspaceId }
  }

  /** @throws {Failure} `validation_failed` */
  #parsePeriod(query: PeriodInput, daysByDefault?: number): Period {
    const faults = new FaultList()
    const period = parsePeriod(query, this.#deps.clock.nowMicros(), faults, daysByDefault)
    faults.throwIfAny()
    if (period === undefined) throw new Error('parsePeriod returned neither a period nor a fault')
    return period
  }
}

function byId(links: readonly GroupedLink[]): ReadonlyMap<string, GroupedLink> {
  return new Map(links.map((link) => [link.id, link]))
}
