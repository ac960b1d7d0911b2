const DAY_MICROS = 24 * 60 * 60 * 1_000_000
const MINUTE_MICROS = 60 * 1_000_000
const SLOT_MICROS = 15 * 60 * 1_000_000

/** Quarter hours of a day. */
export const SLOTS_PER_DAY = DAY_MICROS / SLOT_MICROS

/** The UTC day of an instant in microseconds: days since 1970-01-01, negative before it. */
export function dayOf(atMicros: number): number {
  return Math.floor(atMicros / DAY_MICROS)
}

/** The quarter hour of the UTC day in which an instant lies, 0 to 95. */
export function slotOf(atMicros: number): number {
  return Math.floor((atMicros - dayOf(atMicros) * DAY_MICROS) / SLOT_MICROS)
}

/** The minute of an instant: minutes since 1970-01-01. Each lies in one quarter hour. */
export function minuteOf(atMicros: number): number {
  return Math.floor(atMicros / MINUTE_MICROS)
}

/** When a day begins, in microseconds. */
export function startOfDay(day: number): number {
  return day * DAY_MICROS
}

/** As in `2026-11-21`. */
export function formatDay(day: number): string {
  return new Date(startOfDay(day) / 1_000).toISOString().slice(0, -'T00:00:00.000Z'.length)
}

/** The day of what `formatDay` wrote; undefined for any other text. */
export function parseDay(text: string): number | undefined {
  const day = dayOf(Date.parse(`${text}T00:00:00.000Z`) * 1_000)
  return Number.isNaN(day) || formatDay(day) !== text ? undefined : day
}
