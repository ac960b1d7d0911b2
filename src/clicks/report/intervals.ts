import type { Period } from './period.ts'
import { type OffsetSpan, offsetSpans } from './time-zone.ts'

export const INTERVALS = ['hour', 'day', 'month'] as const

export type Interval = (typeof INTERVALS)[number]

/** Clicks are counted by quarter hour; here quarter hours are numbered from the epoch. */
export const QUARTERS_PER_DAY = 96
const QUARTER_MS = 900_000
export const QUARTER_MICROS = QUARTER_MS * 1_000

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A period in quarter hours: `from` is included, `to` is excluded. */
export type Quarters = { readonly from: number; readonly to: number }

/** Returns the quarter hours that overlap a period. */
export function quartersOf({ fromMicros, toMicros }: Omit<Period, 'zone'>): Quarters {
  return {
    from: Math.floor(fromMicros / QUARTER_MICROS),
    to: Math.ceil(toMicros / QUARTER_MICROS),
  }
}

/**
 * Returns the boundaries of the intervals in a time zone, as quarter hours: `from`, the start of each further
 * interval, and `to`. The first and the last interval may be shortened by `from` and `to`.
 *
 * Days and months begin with the first moment of their date, even when clocks change. An hour begins at each
 * full hour of local time, and at each clock change.
 */
export function cutsOf(
  { from, to }: Quarters,
  zone: string,
  interval: Interval,
): readonly number[] {
  const toMs = to * QUARTER_MS
  const spans = offsetSpans(zone, from * QUARTER_MS, toMs)
  const cuts = [from]
  const cutAt = (ms: number) => {
    // Until 2022 some clocks changed within a quarter hour.
    const quarter = Math.floor(ms / QUARTER_MS)
    if (quarter > (cuts.at(-1) ?? from) && quarter < to) cuts.push(quarter)
  }
  let latest = dateOf(spans[0], from * QUARTER_MS, interval)
  for (const [nth, span] of spans.entries()) {
    const endMs = spans[nth + 1]?.fromMs ?? toMs
    const stepMs = interval === 'hour' ? HOUR_MS : DAY_MS
    for (let ms = span.fromMs; ms < endMs; ms = nextLocal(ms, span, stepMs)) {
      const date = dateOf(span, ms, interval)
      // When clocks are set back over midnight a date repeats, but it began only once.
      if (interval !== 'hour' && date <= latest) continue
      latest = date
      cutAt(ms)
    }
  }
  return [...cuts, to]
}

/** Returns the next time after `ms` whose local time in the span is a multiple of `stepMs`. */
function nextLocal(ms: number, { offsetMs }: OffsetSpan, stepMs: number): number {
  return (Math.floor((ms + offsetMs) / stepMs) + 1) * stepMs - offsetMs
}

/** Numbers the local date or the local month, in ascending order. */
function dateOf(span: OffsetSpan | undefined, ms: number, interval: Interval): number {
  const localMs = ms + (span?.offsetMs ?? 0)
  if (interval !== 'month') return Math.floor(localMs / DAY_MS)
  const local = new Date(localMs)
  return local.getUTCFullYear() * 12 + local.getUTCMonth()
}

/** Formats ascending quarter hours in local time with offset: `2026-11-01T00:00:00.000000+01:00`. */
export function formatQuarters(quarters: readonly number[], zone: string): readonly string[] {
  const first = quarters[0] ?? 0
  const last = quarters.at(-1) ?? first
  const spans = offsetSpans(zone, first * QUARTER_MS, last * QUARTER_MS + 1)
  let nth = 0
  return quarters.map((quarter) => {
    const ms = quarter * QUARTER_MS
    while ((spans[nth + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= ms) nth += 1
    const offsetMs = spans[nth]?.offsetMs ?? 0
    return `${new Date(ms + offsetMs).toISOString().slice(0, 19)}.000000${formatOffset(offsetMs)}`
  })
}

function formatOffset(offsetMs: number): string {
  if (offsetMs === 0) return 'Z'
  const minutes = Math.abs(offsetMs) / 60_000
  const digits = (number: number) => String(Math.floor(number)).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${digits(minutes / 60)}:${digits(minutes % 60)}`
}
