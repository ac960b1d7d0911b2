const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Older instants are shown as dates. */
const RELATIVE_DAYS_MAX = 7
const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

export type Formats = {
  number(value: number): string
  /** `1.2 MB` */
  bytes(amount: number): string
  /** `2 Nov`, with the year if it is another one. */
  day(instant: Date): string
  /** `Sun 22 Nov 2026, 02:04:17 CET` */
  exact(instant: Date): string
  /** `31 Dec 2026, 23:59` */
  minute(instant: Date): string
  /** `14:03`, with the date if it is another day's. */
  clock(instant: Date): string
  /** `12 s ago`, `yesterday`, `2 Nov` */
  ago(instant: Date, now: Date): string
  /** `in 39 days` */
  until(instant: Date, now: Date): string
  list(parts: readonly string[]): string
}

const cache = new Map<string, Formats>()

/** @param locale a language, or a language with a region */
export function formatsOf(locale: string): Formats {
  let formats = cache.get(locale)
  if (formats === undefined) {
    formats = create(regional(locale))
    cache.set(locale, formats)
  }
  return formats
}

/** English dates with the day before the month, unless the browser asks for another region's. */
export function regional(language: string): string {
  const browser = globalThis.navigator?.languages?.find((tag) => tag.startsWith(`${language}-`))
  return browser ?? (language === 'en' ? 'en-GB' : language)
}

function create(locale: string): Formats {
  const number = once(() => new Intl.NumberFormat(locale))
  const dates = (options: Intl.DateTimeFormatOptions) =>
    once(() => new Intl.DateTimeFormat(locale, options))
  const day = dates({ day: 'numeric', month: 'short' })
  const dayAndYear = dates({ dateStyle: 'medium' })
  const minute = dates({ dateStyle: 'medium', timeStyle: 'short' })
  const clock = dates({ hour: '2-digit', minute: '2-digit' })
  const exact = dates({
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  })
  const relative = once(
    () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
  )
  const list = once(() => new Intl.ListFormat(locale, { type: 'conjunction', style: 'narrow' }))
  const dayOf = (instant: Date) =>
    (instant.getFullYear() === new Date().getFullYear() ? day : dayAndYear)().format(instant)
  return {
    number: (value) => number().format(value),
    bytes(amount) {
      const step = BYTE_UNITS.findLastIndex((_, nth) => amount >= 1_000 ** nth)
      const unit = BYTE_UNITS[Math.max(0, step)] ?? 'byte'
      const style = { style: 'unit', unit, unitDisplay: step > 0 ? 'short' : 'long' } as const
      const value = amount / 1_000 ** Math.max(0, step)
      return new Intl.NumberFormat(locale, { ...style, maximumFractionDigits: 1 }).format(value)
    },
    day: dayOf,
    exact: (instant) => exact().format(instant),
    minute: (instant) => minute().format(instant),
    clock(instant) {
      const isToday = instant.toDateString() === new Date().toDateString()
      return (isToday ? clock : minute)().format(instant)
    },
    ago(instant, now) {
      const seconds = Math.max(0, Math.round((now.getTime() - instant.getTime()) / 1_000))
      if (seconds > RELATIVE_DAYS_MAX * DAY) return dayOf(instant)
      return relativeText(relative(), -seconds)
    },
    until(instant, now) {
      const seconds = (instant.getTime() - now.getTime()) / 1_000
      // To the nearest hour: in 7 days less a few seconds is in 7 days.
      return relativeText(
        relative(),
        seconds > HOUR ? Math.round(seconds / HOUR) * HOUR : Math.round(seconds),
      )
    },
    list: (parts) => list().format(parts),
  }
}

function relativeText(format: Intl.RelativeTimeFormat, seconds: number): string {
  const size = Math.abs(seconds)
  if (size < MINUTE) return format.format(seconds, 'second')
  if (size < HOUR) return format.format(Math.trunc(seconds / MINUTE), 'minute')
  if (size < DAY) return format.format(Math.trunc(seconds / HOUR), 'hour')
  return format.format(Math.trunc(seconds / DAY), 'day')
}

/** Makes a value when it is first needed: a format takes the browser a millisecond, and a page uses a few of them. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
