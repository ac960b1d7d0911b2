const DAY_MICROS = 24 * 60 * 60 * 1_000_000
const MINUTE_MICROS = 60 * 1_000_000
const SLOT_MICROS = 15 * 60 * 1_000_000

/**
 * The day of opening balances: clicks that were imported without their dates. No click can be on it, no chart can
 * include it, and its first microsecond is a safe integer.
 */
export const OPENING_DAY = -100_000
/** The instant of a click that stands for an opening balance. */
export const OPENING_AT = OPENING_DAY * DAY_MICROS

/** Quarter hours per day. */
export const SLOTS_PER_DAY = DAY_MICROS / SLOT_MICROS

/** Returns the UTC day of an instant as days since 1970-01-01, negative for earlier days. */
export function dayOf(atMicros: number): number {
  return Math.floor(atMicros / DAY_MICROS)
}

/** Returns the quarter hour of the UTC day, 0 to 95. */
export function slotOf(atMicros: number): number {
  return Math.floor((atMicros - dayOf(atMicros) * DAY_MICROS) / SLOT_MICROS)
}

/** Returns the minutes since 1970-01-01. */
export function minuteOf(atMicros: number): number {
  return Math.floor(atMicros / MINUTE_MICROS)
}

/** Returns the beginning of a day in microseconds since the epoch. */
export function startOfDay(day: number): number {
  return day * DAY_MICROS
}

/** Formats a day like `2026-11-21`. */
export function formatDay(day: number): string {
  return new Date(startOfDay(day) / 1_000).toISOString().slice(0, -'T00:00:00.000Z'.length)
}

/** Parses the output of `formatDay`; undefined for other text. */
export function parseDay(text: string): number | undefined {
  const day = dayOf(Date.parse(`${text}T00:00:00.000Z`) * 1_000)
  return Number.isNaN(day) || formatDay(day) !== text ? undefined : day
}
