import type { CallApi, Query } from '../../identity/index.ts'
import { INSTANT_MILLIS_MAX } from '../../platform/time/clock.ts'
import { ALL_TIME_DAYS, DAY_MS, readSingleClicks } from '../clicks.ts'
import type { CompatLink } from '../links.ts'
import { formatDate, refuseField } from './forms.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The first Monday since 1970. */
const MONDAY_MS = 4 * DAY_MS
const WEEK_MS = 7 * DAY_MS
const PERIOD_MS_MAX = ALL_TIME_DAYS * DAY_MS
const SIZE_DEFAULT = 50
const SIZE_MAX = 1_000

/** By which interval of our reports a unit is counted, how long it is at most, and where the one of an instant begins. */
const UNITS = {
  minute: {
    interval: undefined,
    lengthMs: MINUTE_MS,
    floor: (ms: number) => ms - (ms % MINUTE_MS),
  },
  hour: { interval: 'hour', lengthMs: HOUR_MS, floor: (ms: number) => ms - (ms % HOUR_MS) },
  day: { interval: 'day', lengthMs: DAY_MS, floor: (ms: number) => ms - (ms % DAY_MS) },
  week: {
    interval: 'day',
    lengthMs: WEEK_MS,
    floor: (ms: number) => ms - ((ms - MONDAY_MS) % WEEK_MS),
  },
  month: {
    interval: 'month',
    lengthMs: 31 * DAY_MS,
    floor(ms: number) {
      const date = new Date(ms)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
    },
  },
} as const

type Unit = keyof typeof UNITS

/** The last `units` units up to the one that contains the reference; all of them where `units` is -1. */
type Range = {
  readonly unit: Unit
  readonly units: number
  readonly size: number
  readonly referenceMs: number
}

export type Metrics = { readonly call: CallApi; readonly link: CompatLink; readonly range: Range }

type ClickPoint = { readonly start: string; readonly clicks: number }
type ClickGroup = { readonly value: string | null; readonly clicks: number }
type Report<T> = { readonly data: readonly T[]; readonly total: { readonly clicks: number } }

/** @throws {BitlyRefusal} for a parameter that Bitly does not have */
export function parseRange(query: Readonly<Record<string, string>>): Range {
  const { unit = 'day', units = '-1', size = String(SIZE_DEFAULT), unit_reference = '' } = query
  if (!Object.hasOwn(UNITS, unit)) refuseField('unit')
  if (!/^(?:-1|[1-9]\d{0,5})$/.test(units)) refuseField('units')
  if (!/^[1-9]\d{0,5}$/.test(size)) refuseField('size')
  const referenceMs = unit_reference === '' ? Date.now() : Date.parse(unit_reference)
  if (!(referenceMs > MONDAY_MS && referenceMs < INSTANT_MILLIS_MAX)) refuseField('unit_reference')
  return {
    unit: unit as Unit,
    units: Number(units),
    size: Math.min(Number(size), SIZE_MAX),
    referenceMs,
  }
}

/** Counts clicks by unit, the latest first, with those units that have none. */
export async function listClicks({ call, link, range }: Metrics) {
  const { unit, units, size, referenceMs } = range
  const { floor, interval } = UNITS[unit]
  const createdMs = Date.parse(link.created_at)
  const countMax = units === -1 ? size : Math.min(units, size)
  const starts = [floor(referenceMs)]
  for (let last = starts[0] ?? 0; starts.length < countMax; starts.push(last)) {
    if (units === -1 && last <= createdMs) break
    last = floor(last - 1)
  }
  const period = periodOf(starts.at(-1) ?? referenceMs, range)
  const points =
    interval === undefined
      ? await listSingleClicks(call, link, period)
      : (await report<ClickPoint>(call, link, { ...period, interval })).data
  const counts = new Map<number, number>()
  for (const { start, clicks } of points) {
    const at = floor(Date.parse(start))
    counts.set(at, (counts.get(at) ?? 0) + clicks)
  }
  const link_clicks = starts.map((start) => ({
    date: formatDate(start),
    clicks: counts.get(start) ?? 0,
  }))
  return { link_clicks, ...presentRange(range) }
}

/**
 * Minutes are no interval of our reports, so single clicks are counted.
 *
 * @throws {BitlyRefusal} for more than are read at once
 */
async function listSingleClicks(
  call: CallApi,
  { id }: CompatLink,
  period: ReturnType<typeof periodOf>,
): Promise<readonly ClickPoint[]> {
  const found = await readSingleClicks(call, `/links/${id}/clicks`, period)
  if (found === undefined) refuseField('units')
  return found.map(({ at, count }) => ({ start: at, clicks: count }))
}

export async function sumClicks({ call, link, range }: Metrics) {
  const isAll = range.units === -1 && range.referenceMs >= Date.now() - MINUTE_MS
  const total_clicks = isAll
    ? (link.clicks ?? 0)
    : (await report(call, link, { ...wholePeriod(link, range), group_by: 'source', limit: 1 }))
        .total.clicks
  return { total_clicks, ...presentRange(range) }
}

/** Counts clicks by country or referrer, the most first. */
export async function listValues({ call, link, range }: Metrics, facet: 'countries' | 'referrers') {
  const group_by = facet === 'countries' ? 'country' : 'referrer'
  const query = { ...wholePeriod(link, range), group_by, limit: range.size }
  const { data } = await report<ClickGroup>(call, link, query)
  const metrics = data.map(({ value, clicks }) => ({
    value: facet === 'countries' ? (value ?? 'unknown') : referrerOf(value),
    clicks,
  }))
  return { facet, metrics, ...presentRange(range) }
}

/** Only the host of a referrer is stored, and Bitly has addresses. */
function referrerOf(host: string | null): string {
  return host === null ? 'direct' : `https://${host}/`
}

function wholePeriod({ created_at }: CompatLink, range: Range) {
  const { unit, units, referenceMs } = range
  const { floor } = UNITS[unit]
  let startMs = floor(units === -1 ? Date.parse(created_at) : referenceMs)
  for (let count = 1; count < units && referenceMs - startMs < PERIOD_MS_MAX; count += 1)
    startMs = floor(startMs - 1)
  return periodOf(startMs, range)
}

/** From a start to the end of the unit that has the reference. */
function periodOf(startMs: number, { unit, referenceMs }: Range) {
  const { floor, lengthMs } = UNITS[unit]
  const endMs = floor(floor(referenceMs) + lengthMs)
  const from = new Date(Math.min(Math.max(startMs, endMs - PERIOD_MS_MAX), endMs - MINUTE_MS))
  return { from: from.toISOString(), to: new Date(endMs).toISOString() }
}

function report<T>(call: CallApi, { id }: CompatLink, query: Query): Promise<Report<T>> {
  return call.get('/clicks', { ...query, link: id })
}

function presentRange({ unit, units, referenceMs }: Range) {
  return { unit, units, unit_reference: formatDate(referenceMs) }
}
