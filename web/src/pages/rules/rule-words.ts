import { COUNTRIES, COUNTRY_SETS } from '@terse/contract/countries'
import type { Conditions } from '@terse/contract/rules'
import { rules as de } from '../../text/de/rules.ts'
import { rules as en, type RuleWords } from '../../text/en/rules.ts'
import { regional } from '../../text/formats.ts'
import type { Text } from '../../text/language.ts'

type ValueOf<K extends keyof Conditions> =
  NonNullable<Conditions[K]> extends readonly (infer V)[] ? V : never

const SYSTEMS: Readonly<Record<ValueOf<'os'>, string>> = {
  ios: 'iOS',
  ipados: 'iPadOS',
  android: 'Android',
  windows: 'Windows',
  macos: 'macOS',
  linux: 'Linux',
  chromeos: 'ChromeOS',
  harmonyos: 'HarmonyOS',
}

const BROWSERS: Readonly<Record<ValueOf<'browser'>, string>> = {
  chrome: 'Chrome',
  safari: 'Safari',
  firefox: 'Firefox',
  edge: 'Edge',
  opera: 'Opera',
  'samsung-internet': 'Samsung Internet',
  'android-browser': 'Android Browser',
  brave: 'Brave',
  duckduckgo: 'DuckDuckGo',
  'google-search': 'Google app',
  'internet-explorer': 'Internet Explorer',
  'amazon-silk': 'Amazon Silk',
  'uc-browser': 'UC Browser',
  vivaldi: 'Vivaldi',
  'yandex-browser': 'Yandex Browser',
  facebook: 'Facebook',
  instagram: 'Instagram',
  linkedin: 'LinkedIn',
  pinterest: 'Pinterest',
  snapchat: 'Snapchat',
  tiktok: 'TikTok',
  wechat: 'WeChat',
}

/** Languages that are offered; any other tag can be typed. */
const LANGUAGES =
  'ar bg bn ca cs da de el en en-GB en-US es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl pl pt pt-BR ro ru sk sl sr sv th tr uk ur vi zh-Hans zh-Hant'.split(
    ' ',
  )

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** The kinds whose values are words of a list. */
export type ListKind =
  | 'country'
  | 'region'
  | 'city'
  | 'device'
  | 'os'
  | 'browser'
  | 'language'
  | 'referrer'
  | 'address'
  | 'label'

/** How rules are written in a language. */
export type RuleLanguage = {
  readonly w: RuleWords
  readonly locale: string
  valueName(kind: ListKind, value: string): string
  /** The values that are offered; empty where only typed ones are possible. */
  values(kind: ListKind): readonly string[]
  weekday(day: Weekday): string
  share(part: number): string
  /** `Germany or Austria` */
  anyOf(parts: readonly string[]): string
  allOf(parts: readonly string[]): string
  instant(text: string): string
}

const WORDS: Readonly<Record<Text['language'], RuleWords>> = { en, de }

export function ruleLanguage(language: Text['language']): RuleLanguage {
  const w = WORDS[language]
  const locale = regional(language)
  const regions = new Intl.DisplayNames(locale, { type: 'region' })
  const languages = new Intl.DisplayNames(locale, { type: 'language' })
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const either = new Intl.ListFormat(locale, { type: 'disjunction' })
  const both = new Intl.ListFormat(locale, { type: 'conjunction' })
  const day = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
  const minute = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const names: Partial<Record<ListKind, Readonly<Record<string, string>>>> = {
    device: w.devices,
    os: SYSTEMS,
    browser: BROWSERS,
  }
  const sets: Readonly<Record<string, string>> = w.sets
  function valueName(kind: ListKind, value: string): string {
    if (kind === 'country') return sets[value] ?? nameIn(regions, value)
    if (kind === 'language') return nameIn(languages, value)
    if (kind === 'referrer' && value === 'none') return w.noReferrer
    return names[kind]?.[value] ?? value
  }
  const byName = (kind: ListKind, values: Iterable<string>) =>
    [...values].toSorted((one, other) =>
      valueName(kind, one).localeCompare(valueName(kind, other), locale),
    )
  return {
    w,
    locale,
    valueName,
    values(kind) {
      if (kind === 'country') return [...COUNTRY_SETS.keys(), ...byName(kind, COUNTRIES)]
      if (kind === 'language') return byName(kind, LANGUAGES)
      return kind === 'referrer' ? ['none'] : Object.keys(names[kind] ?? {})
    },
    // 5 January 1970 was a Monday.
    weekday: (name) => day.format(new Date(Date.UTC(1970, 0, 5 + WEEKDAYS.indexOf(name)))),
    share: (part) => percent.format(part),
    anyOf: (parts) => either.format(parts),
    allOf: (parts) => both.format(parts),
    instant: (text) => (Number.isNaN(Date.parse(text)) ? text : minute.format(new Date(text))),
  }
}

/** What is no code, as it may be typed, is its own name. */
function nameIn(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}
