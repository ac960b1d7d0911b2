import type { ClickReportResource, ExportedClick } from '@terse/contract/clicks'
import type { IncludingLink } from '@terse/contract/links'
import type { CallApi, Query } from '../../identity/index.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import {
  ALL_TIME_DAYS,
  DAY_MS,
  daysAgo,
  readReport,
  readSingleClicks,
  SINGLE_CLICKS_MAX,
} from '../clicks.ts'
import { listDomains, readSpan } from '../lists.ts'
import { invalidData } from './problems.ts'
import { listOf, type ShlinkCall, type ShlinkQuery, shlinkDate } from './requests.ts'

const QUARTER_MICROS = 900_000_000
const ITEMS_PER_PAGE_MAX = 5_000
/** Days of which hours are counted, so that no more than some hours of single clicks are read. */
const DAYS_BY_HOUR_MAX = 31
const TAGGED_LINKS_MAX = 2_000

/** Which visits are listed: those of a link, or of a tag and a host. */
export type VisitScope =
  | { readonly link: IncludingLink }
  | { readonly tag?: string | undefined; readonly host?: string | undefined }

/** Where the clicks of a scope are, and which of them belong to it. */
type Source = {
  readonly path: string
  readonly filter: Query
  /** Paths of clicks of other domains, whose counts are subtracted. */
  readonly without: readonly string[]
  /** Whether a click belongs to the scope. Undefined where all do. */
  readonly has?: ((click: ExportedClick) => boolean) | undefined
}

type Period = { readonly from: string; readonly to: string }
/** A part of the period, and how many visits it has. */
type Slice = { readonly start: string; readonly count: number }

/** Lists visits, newest first. The scope is undefined for none, such as visits of no link. */
export async function listVisits(
  shlink: ShlinkCall,
  query: ShlinkQuery,
  scope: VisitScope | undefined,
) {
  const request = query.page(ITEMS_PER_PAGE_MAX, ITEMS_PER_PAGE_MAX)
  const source = scope && (await sourceOf(shlink, scope))
  if (source === undefined) return { visits: listOf([], 0, request) }
  const { call } = shlink
  // Shlink checks only whether the parameter is there: `excludeBots=false` excludes them too.
  const bots = query.has('excludeBots') ? 'exclude' : 'include'
  const period = periodOf(query)
  const days = await slicesOf(call, source, { ...period, interval: 'day', bots })
  const total = sumOf(days)
  const start = (request.page - 1) * request.itemsPerPage
  const wanted = Math.min(request.itemsPerPage, total - start)
  if (wanted <= 0) return { visits: listOf([], total, request) }
  let part = select(days, period, start, wanted)
  if (part.slices.length <= DAYS_BY_HOUR_MAX) {
    const hours = await slicesOf(call, source, { ...part.period, interval: 'hour', bots })
    part = select(hours, part.period, part.skipped, wanted)
  }
  const clicks = await readClicks(call, source, part.period, bots)
  const data = clicks.slice(part.skipped, part.skipped + wanted).map(presentVisit)
  return { visits: listOf(data, total, request) }
}

/** Clicks are counted by quarter hours. */
function periodOf(query: ShlinkQuery): Period {
  const now = Date.now() * 1_000
  const to = Math.min(query.micros('endDate') ?? now, now)
  const oldest = to - ALL_TIME_DAYS * DAY_MS * 1_000
  const from = Math.min(Math.max(query.micros('startDate') ?? oldest, oldest), to)
  return {
    from: formatInstant(Math.floor(from / QUARTER_MICROS) * QUARTER_MICROS),
    to: formatInstant((Math.floor(to / QUARTER_MICROS) + 1) * QUARTER_MICROS),
  }
}

async function sourceOf(
  { call, serviceHost }: ShlinkCall,
  scope: VisitScope,
): Promise<Source | undefined> {
  if ('link' in scope) return { path: `/links/${scope.link.id}/clicks`, filter: {}, without: [] }
  const { tag, host } = scope
  const tagged = tag === undefined ? undefined : await linksTagged(call, tag)
  const filter = { tag }
  const hasTag = tagged && (({ link_id }: ExportedClick) => tagged.has(link_id ?? ''))
  if (host === undefined) return { path: '/clicks', filter, without: [], has: hasTag }
  const domains = await listDomains(call)
  const id = domains.find(({ domain }) => domain === host)?.id
  if (id !== undefined) return { path: `/domains/${id}/clicks`, filter, without: [], has: hasTag }
  if (host !== serviceHost) return undefined
  return {
    path: '/clicks',
    filter,
    without: domains.map((domain) => `/domains/${domain.id}/clicks`),
    has: (click) => click.domain === host && (hasTag === undefined || hasTag(click)),
  }
}

/** @throws {ShlinkProblem} */
async function linksTagged(call: CallApi, tag: string): Promise<ReadonlySet<string>> {
  const query = { tag, fields: 'id', archived: 'any' }
  const all = { start: 0, limit: TAGGED_LINKS_MAX }
  const { items, total } = await readSpan<{ id: string }>(call, '/links', query, all)
  if (total <= TAGGED_LINKS_MAX) return new Set(items.map(({ id }) => id))
  throw invalidData(['tag'], `More than ${TAGGED_LINKS_MAX} links have this tag.`)
}

async function slicesOf(
  call: CallApi,
  { path, filter, without }: Source,
  query: Period & { readonly interval: 'day' | 'hour'; readonly bots: string },
): Promise<readonly Slice[]> {
  const [slices = [], ...others] = await inTurn([path, ...without], async (each) => {
    const { data } = await readReport<Series>(call, each, { ...filter, ...query })
    return data.map(({ start, clicks = 0, bots = 0 }) => ({ start, count: clicks + bots }))
  })
  return slices.map(({ start, count }, index) => ({
    start,
    count: others.reduce((left, other) => left - (other[index]?.count ?? 0), count),
  }))
}

type Series = Extract<ClickReportResource, { group_by: null }>

async function inTurn<In, Out>(items: readonly In[], run: (item: In) => Promise<Out>) {
  const results: Out[] = []
  for (const item of items) results.push(await run(item))
  return results
}

function sumOf(slices: readonly Slice[]): number {
  return slices.reduce((sum, { count }) => sum + count, 0)
}

/** The slices that have the wanted visits, counted from the newest one, and how many newer ones are among them. */
function select(slices: readonly Slice[], { to }: Period, start: number, wanted: number) {
  const found: (Slice & { readonly end: string })[] = []
  let newer = 0
  let skipped = 0
  for (const [index, slice] of [...slices.entries()].reverse()) {
    const end = slices[index + 1]?.start ?? to
    if (newer < start + wanted && newer + slice.count > start) {
      if (found.length === 0) skipped = start - newer
      found.push({ ...slice, end })
    }
    newer += slice.count
  }
  const [newest, oldest] = [found[0], found.at(-1)]
  const period = { from: oldest?.start ?? to, to: newest?.end ?? to }
  return { slices: found, period, skipped }
}

/** Newest first. One that stands for several is there as often. @throws {ShlinkProblem} for too many */
async function readClicks(
  call: CallApi,
  { path, has }: Source,
  period: Period,
  bots: string,
): Promise<readonly ExportedClick[]> {
  const clicks = await readSingleClicks(call, path, { ...period, bots })
  if (clicks === undefined) {
    const reason = `More than ${SINGLE_CLICKS_MAX} visits within hours are too many to list: export them from Terse.`
    throw invalidData(['page'], reason)
  }
  const own = has === undefined ? clicks : clicks.filter(has)
  return own.toReversed().flatMap((click) => Array<ExportedClick>(click.count).fill(click))
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

function presentVisit(click: ExportedClick) {
  const { at, referrer, browser, os, device, country, region, city, flags, domain, key } = click
  return {
    referer: referrer ?? '',
    date: shlinkDate(at),
    userAgent: [browser, os, device].filter((part) => part !== null).join('; '),
    visitLocation:
      country === null
        ? null
        : {
            countryCode: country,
            countryName: COUNTRIES.of(country) ?? country,
            regionName: region ?? '',
            cityName: city ?? '',
            latitude: null,
            longitude: null,
            timezone: '',
            isEmpty: false,
          },
    potentialBot: flags.length > 0,
    visitedUrl: domain === null || key === null ? '' : `https://${domain}/${encodeURI(key)}`,
    redirectUrl: null,
  }
}

/** Counts all visits. Those that were imported without their dates are in no list. */
export async function countVisits({ call }: ShlinkCall) {
  const query = { from: daysAgo(ALL_TIME_DAYS), interval: 'month', bots: 'include' }
  const { total, opening } = await call.get<Series>('/clicks', query)
  const nonBots = total.clicks + (opening ?? 0)
  return {
    visits: {
      nonOrphanVisits: { total: nonBots + total.bots, nonBots, bots: total.bots },
      orphanVisits: { total: 0, nonBots: 0, bots: 0 },
    },
  }
}
