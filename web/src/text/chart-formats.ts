import { useObservable } from '../state/observable.ts'
import { once, regional } from './formats.ts'
import { text } from './language.ts'

/** How charts write numbers, instants and codes. */
export type ChartFormats = {
  number(value: number): string
  /** `1.5k`, for axes. */
  short(value: number): string
  /** `41.4 %` */
  share(ratio: number): string
  /** `+18.9 %` */
  change(ratio: number): string
  /** `24 Oct` */
  day(instant: Date): string
  /** `Wed 11 Nov` */
  weekday(instant: Date): string
  /** `November 2026` */
  month(instant: Date): string
  /** `14:00` */
  hour(instant: Date): string
  /** `14:02:17` */
  second(instant: Date): string
  /** `Wed 11 Nov, 14:00` */
  weekdayHour(instant: Date): string
  /** `24 Oct – 22 Nov`, of two dates; the last is included. */
  days(first: string, last: string): string
  /** `20 Nov, 14:00 – 18:00` */
  hours(from: Date, to: Date): string
  /** The name of a country by its code. */
  country(code: string): string
  /** The name of a language by its tag. */
  language(tag: string): string
}

export function useChartFormats(timezone: string): ChartFormats {
  const language = useObservable(text)?.language ?? 'en'
  return chartFormatsOf(language, timezone)
}

const cache = new Map<string, ChartFormats>()

function chartFormatsOf(language: string, timezone: string): ChartFormats {
  const name = `${language} ${timezone}`
  const formats = cache.get(name) ?? chartFormats(regional(language), language, timezone)
  cache.set(name, formats)
  return formats
}

/** @param locale for numbers and dates, a language or a language with a region */
function chartFormats(locale: string, language: string, timeZone: string): ChartFormats {
  const numbers = (options: Intl.NumberFormatOptions) =>
    once(() => new Intl.NumberFormat(locale, options))
  const dates = (options: Intl.DateTimeFormatOptions) =>
    once(() => new Intl.DateTimeFormat(locale, { timeZone, ...options }))
  const percent = { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
  const dayMonth = { day: 'numeric', month: 'short' } as const
  const time = { hour: '2-digit', minute: '2-digit' } as const
  const number = numbers({})
  const short = numbers({ notation: 'compact', maximumFractionDigits: 1 })
  const share = numbers(percent)
  const change = numbers({ ...percent, signDisplay: 'exceptZero' })
  const day = dates(dayMonth)
  const weekday = dates({ ...dayMonth, weekday: 'short' })
  const month = dates({ month: 'long', year: 'numeric' })
  const hour = dates(time)
  const second = dates({ ...time, second: '2-digit' })
  const weekdayHour = dates({ ...dayMonth, ...time, weekday: 'short' })
  // Dates without a time are taken as they are, in whichever zone.
  const dayRange = dates({ ...dayMonth, timeZone: 'UTC' })
  const dayYearRange = dates({ ...dayMonth, year: 'numeric', timeZone: 'UTC' })
  const hours = dates({ ...dayMonth, ...time })
  const thisYear = String(new Date().getFullYear())
  const countries = once(() => new Intl.DisplayNames(language, { type: 'region' }))
  const languages = once(() => new Intl.DisplayNames(language, { type: 'language' }))
  return {
    number: (value) => number().format(value),
    short: (value) => short().format(value),
    share: (ratio) => share().format(ratio),
    change: (ratio) => change().format(ratio),
    day: (instant) => day().format(instant),
    weekday: (instant) => weekday().format(instant),
    month: (instant) => month().format(instant),
    hour: (instant) => hour().format(instant),
    second: (instant) => second().format(instant),
    weekdayHour: (instant) => weekdayHour().format(instant),
    days(first, last) {
      const isThisYear = first.startsWith(thisYear) && last.startsWith(thisYear)
      const range = isThisYear ? dayRange() : dayYearRange()
      return range.formatRange(new Date(first), new Date(last))
    },
    hours: (from, to) => hours().formatRange(from, to),
    country: (code) => nameOf(countries(), code),
    language: (tag) => nameOf(languages(), tag),
  }
}

/** Visitors choose what their browser sends: a code may be anything. */
function nameOf(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}
