import { isDeepStrictEqual } from 'node:util'
import { COUNTRIES } from '@terse/contract/countries'
import {
  type Conditions,
  PLACE_LENGTH_MAX,
  RULES_MAX,
  type RuleInput,
  type TimeSpan,
  type When,
} from '@terse/contract/rules'
import { parseAddressPattern } from '../../platform/network/ip-address.ts'
import { type Converted, isRecord, KEPT, nonEmpty, shown, type Targeting } from './targeting.ts'

/** A redirect rule as Shlink's API has it. */
export type RedirectRule = {
  readonly longUrl: string
  /** Ascending; left out in no known release. */
  readonly priority?: number | null | undefined
  readonly conditions: readonly RedirectCondition[]
}

type RedirectCondition = {
  readonly type: string
  readonly matchKey?: unknown
  readonly matchValue?: unknown
}

type Known = {
  readonly redirectRules?: readonly RedirectRule[] | undefined
  /** Of releases before 4.0, which had these instead of rules. */
  readonly deviceLongUrls?: unknown
}

/**
 * Shlink follows the first rule, by priority, whose conditions all hold. Rules for one device that come last become
 * `ios` and `android`, which Terse asks for behind all rules.
 */
export function shlinkTargeting({ redirectRules = [], deviceLongUrls }: Known): Targeting {
  if (redirectRules.length === 0) return deviceTargeting(deviceLongUrls)
  const { rules, left, notes } = convertRules(redirectRules)
  const rest = nonEmpty({ redirectRules: left, deviceLongUrls })
  return { ...lastDevicesAside(rules), rest, notes }
}

/** Returns rules in the order of their priorities. Those that Terse has no conditions for are left. */
export function convertRules(
  redirectRules: readonly RedirectRule[],
): Converted<readonly RedirectRule[]> {
  const rules: RuleInput[] = []
  const left: RedirectRule[] = []
  const notes: string[] = []
  const sorted = redirectRules.toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0))
  for (const [index, redirectRule] of sorted.entries()) {
    const when =
      rules.length < RULES_MAX
        ? whenOf(redirectRule.conditions)
        : { fault: `a link has at most ${RULES_MAX} rules` }
    if ('fault' in when) {
      const number = redirectRule.priority ?? index + 1
      notes.push(
        `Redirect rule ${number} at Shlink, to ${shown(redirectRule.longUrl)}: ${when.fault}, so ${KEPT}`,
      )
      left.push(redirectRule)
    } else {
      const id = `shlink-${redirectRule.priority ?? index + 1}`
      rules.push({ id, when: when.value, then: { url: redirectRule.longUrl } })
    }
  }
  return { rules: distinctIds(rules), left, notes }
}

/** Returns a rule as Shlink has it; undefined where Shlink has no form for its conditions or its destination. */
export function redirectRuleOf({ when, then }: RuleInput): RedirectRule | undefined {
  if (then.url === undefined) return undefined
  const { any = [], not, ...first } = when
  const missing = not?.query?.map(({ name }) => conditionOf('any-value-query-param', name)) ?? []
  const conditions = [...[first, ...any].flatMap(redirectConditions), ...missing]
  const read = whenOf(conditions)
  const isWhole = 'value' in read && isDeepStrictEqual(read.value, when)
  return isWhole ? { longUrl: then.url, conditions } : undefined
}

function conditionOf(type: string, matchKey: string | null, matchValue: string | null = null) {
  return { type, matchKey, matchValue }
}

/** May leave out what Shlink has no form for, or repeat a type: what is read from them then differs. */
function redirectConditions(conditions: Conditions): readonly RedirectCondition[] {
  const { language = [], address = [], country = [], city = [], query = [], time = [] } = conditions
  const { os, device, browser } = conditions
  const named = (type: string, names: typeof DEVICES, condition: Conditions) =>
    [...names]
      .filter(([, known]) => isDeepStrictEqual(known, condition))
      .map(([name]) => conditionOf(type, null, String(name)))
  return [
    ...named('device', DEVICES, { os }),
    ...named('device', DEVICES, { device }),
    ...named('browser', BROWSERS, { browser }),
    ...language.map((value) => conditionOf('language', null, value)),
    ...query.flatMap(({ name, equals, present }) => {
      if (present) return [conditionOf('any-value-query-param', name)]
      if (equals === '') return [conditionOf('valueless-query-param', name)]
      return equals === undefined ? [] : [conditionOf('query-param', name, equals)]
    }),
    ...address.map((value) => conditionOf('ip-address', null, value)),
    ...country.map((value) => conditionOf('geolocation-country-code', null, value)),
    ...city.map((value) => conditionOf('geolocation-city-name', null, value)),
    ...time.flatMap(({ from, until }) => [
      ...(from === undefined ? [] : [conditionOf('after-date', null, from)]),
      ...(until === undefined ? [] : [conditionOf('before-date', null, until)]),
    ]),
  ]
}

/** What Shlink itself made of these when it got rules. */
function deviceTargeting(deviceLongUrls: unknown): Targeting {
  const { ios, android, desktop, ...rest } = isRecord(deviceLongUrls) ? deviceLongUrls : {}
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  const desktopUrl = text(desktop)
  const rule: RuleInput = {
    id: 'desktop',
    when: { device: ['desktop'] },
    then: { url: desktopUrl ?? '' },
  }
  return {
    ios: text(ios),
    android: text(android),
    rules: desktopUrl === null ? [] : [rule],
    rest: nonEmpty({ deviceLongUrls: nonEmpty(rest) }),
    notes: [],
  }
}

/** Two rules may have the same priority only in an answer that is damaged. */
function distinctIds(rules: readonly RuleInput[]): readonly RuleInput[] {
  const used = new Set<string | undefined>()
  return rules.map((rule) => {
    let { id } = rule
    for (let nth = 2; used.has(id); nth += 1) id = `${rule.id}-${nth}`
    used.add(id)
    return { ...rule, id }
  })
}

/** Of two rules for one device, Shlink follows the first. */
function lastDevicesAside(
  rules: readonly RuleInput[],
): Pick<Targeting, 'ios' | 'android' | 'rules'> {
  const last = rules.findLastIndex((rule) => loneDevice(rule) === undefined)
  const devices = { ios: null as string | null, android: null as string | null }
  for (const rule of rules.slice(last + 1)) {
    const device = loneDevice(rule)
    if (device !== undefined) devices[device] ??= rule.then.url ?? null
  }
  return { ...devices, rules: rules.slice(0, last + 1) }
}

function loneDevice({ when }: RuleInput): 'ios' | 'android' | undefined {
  const [system, ...others] = when.os ?? []
  if (others.length > 0 || Object.keys(when).length !== 1) return undefined
  return system === 'ios' || system === 'android' ? system : undefined
}

/**
 * Returns rules with destinations for devices put where they were among them. Imports of earlier versions took the
 * first rule for each device away and kept the others, whose priorities show where rules are missing.
 *
 * @param others by priority, with the numbers that they had
 */
export function withTakenDevices(
  others: readonly RedirectRule[],
  { ios, android }: { readonly ios: string | null; readonly android: string | null },
): { readonly rules: readonly RedirectRule[]; readonly isSure: boolean } {
  const sorted = others.toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0))
  const has = new Set(sorted.map(({ priority }) => priority))
  const highest = sorted.at(-1)?.priority ?? 0
  const missing = Array.from({ length: highest }, (_, index) => index + 1).filter(
    (priority) => !has.has(priority),
  )
  const taken = [
    ...(ios === null ? [] : [['ios', ios] as const]),
    ...(android === null ? [] : [['android', android] as const]),
  ]
  const [first] = missing
  // All of them came behind the others, where `ios` and `android` are asked for anyway.
  if (first === undefined || taken.length === 0) return { rules: sorted, isSure: true }
  const areAdjacent = missing.every((priority, index) => priority === first + index)
  const isSure = missing.length === taken.length && areAdjacent
  const devices = taken.map(([device, longUrl]): RedirectRule => {
    return { longUrl, priority: first, conditions: [{ type: 'device', matchValue: device }] }
  })
  const at = sorted.findIndex(({ priority }) => (priority ?? 0) > first)
  return { rules: sorted.toSpliced(at, 0, ...devices), isSure }
}

type Parsed<T> = { readonly value: T } | { readonly fault: string }

/** Returns the conditions as those of one rule, or why they cannot be. */
function whenOf(conditions: readonly RedirectCondition[]): Parsed<When> {
  if (conditions.length === 0) return { fault: 'it has no condition and never matched' }
  const merged = new MergedConditions()
  for (const condition of conditions) {
    const converted = convert(condition)
    const fault = 'fault' in converted ? converted.fault : merged.add(converted.value)
    if (fault !== undefined) return { fault }
  }
  return { value: merged.when }
}

/**
 * Conditions that must all hold. A rule has each kind once, and one of its values is enough: so kinds of which a visitor
 * has one are intersected, and others get a second place in `any`.
 */
class MergedConditions {
  readonly #first: Partial<Record<string, unknown>> = {}
  readonly #second: Partial<Record<string, unknown>> = {}
  readonly #missing: { readonly name: string; readonly absent: true }[] = []

  /** Returns why it cannot be added. */
  add(condition: Conditions): string | undefined {
    for (const [kind, values] of Object.entries(condition)) {
      const fault = this.#addKind(kind as keyof Conditions, values as readonly unknown[])
      if (fault !== undefined) return fault
    }
    return undefined
  }

  get when(): When {
    return {
      ...(this.#first as Conditions),
      ...(Object.keys(this.#second).length > 0 && { any: [this.#second as Conditions] }),
      ...(this.#missing.length > 0 && { not: { query: this.#missing } }),
    }
  }

  #addKind(kind: keyof Conditions, values: readonly unknown[]): string | undefined {
    const first = this.#first[kind] as readonly unknown[] | undefined
    if (first === undefined) {
      this.#first[kind] = values
      return undefined
    }
    if (JSON.stringify(first) === JSON.stringify(values)) return undefined
    if (kind === 'time') {
      const span = overlap(first[0] as TimeSpan, values[0] as TimeSpan)
      if (span === undefined) return 'its dates leave no time between them, and it never matches'
      this.#first.time = [span]
    } else if (kind === 'query' || kind === 'address') {
      return this.#addSecond(kind, values)
    } else {
      const both = first.filter((value) => values.includes(value))
      if (both.length === 0) return `no visitor meets both of its conditions on ${kind}`
      this.#first[kind] = both
    }
    return undefined
  }

  #addSecond(kind: 'query' | 'address', values: readonly unknown[]): string | undefined {
    const [value] = values
    if (isRecord(value) && value.present === true) {
      this.#missing.push({ name: String(value.name), absent: true })
    } else if (this.#second[kind] === undefined) {
      this.#second[kind] = values
    } else {
      return `it has more than two conditions on ${kind}`
    }
    return undefined
  }
}

/** Returns undefined when no instant is in both. */
function overlap(one: TimeSpan, other: TimeSpan): TimeSpan | undefined {
  const from = [one.from, other.from]
    .flatMap((text) => text ?? [])
    .sort(byInstant)
    .at(-1)
  const until = [one.until, other.until].flatMap((text) => text ?? []).sort(byInstant)[0]
  if (from !== undefined && until !== undefined && byInstant(from, until) >= 0) return undefined
  return { ...(from !== undefined && { from }), ...(until !== undefined && { until }) }
}

function byInstant(one: string, other: string): number {
  return Temporal.Instant.compare(one, other)
}

/** A tag that rules may have. */
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?$/i

const DEVICES: ReadonlyMap<unknown, Conditions> = new Map<unknown, Conditions>([
  ['android', { os: ['android'] }],
  ['ios', { os: ['ios'] }],
  ['mobile', { device: ['phone', 'tablet'] }],
  ['windows', { os: ['windows'] }],
  ['macos', { os: ['macos'] }],
  ['linux', { os: ['linux'] }],
  ['chromeos', { os: ['chromeos'] }],
  ['desktop', { device: ['desktop'] }],
])
const BROWSERS: ReadonlyMap<unknown, Conditions> = new Map<unknown, Conditions>([
  ['chrome', { browser: ['chrome'] }],
  ['firefox', { browser: ['firefox'] }],
  ['edge', { browser: ['edge'] }],
  ['safari', { browser: ['safari'] }],
  ['opera', { browser: ['opera'] }],
  ['android_browser', { browser: ['android-browser'] }],
])

/** Returns one condition as Terse has it, or why there is none. */
function convert({ type, matchKey, matchValue }: RedirectCondition): Parsed<Conditions> {
  const value = typeof matchValue === 'string' ? matchValue.trim() : ''
  const unknown = { fault: `Terse has no condition like ${type} ${shown(matchValue)}` }
  const known = (condition: Conditions | undefined) => (condition ? { value: condition } : unknown)
  switch (type) {
    case 'device':
      return known(DEVICES.get(value))
    case 'browser':
      return known(BROWSERS.get(value))
    case 'language': {
      const tag = value.replaceAll('_', '-')
      return known(LANGUAGE.test(tag) ? { language: [tag] } : undefined)
    }
    case 'ip-address':
      return known(parseAddressPattern(value) && { address: [value] })
    case 'geolocation-country-code': {
      const country = value.toUpperCase()
      return known(COUNTRIES.has(country) ? { country: [country] } : undefined)
    }
    case 'geolocation-city-name':
      return known(isPlace(value) ? { city: [value] } : undefined)
    case 'before-date':
      return isInstant(value) ? { value: { time: [{ until: value }] } } : unknown
    case 'after-date':
      return isInstant(value) ? { value: { time: [{ from: value }] } } : unknown
    default:
      return convertQuery(type, matchKey, matchValue) ?? unknown
  }
}

/** Returns undefined for another type. */
function convertQuery(
  type: string,
  matchKey: unknown,
  matchValue: unknown,
): Parsed<Conditions> | undefined {
  if (!/^(?:any-value-|valueless-)?query-param$/.test(type)) return undefined
  if (typeof matchKey !== 'string' || matchKey === '') {
    return { fault: 'a condition on the query names no parameter' }
  }
  if (type === 'any-value-query-param') {
    return { value: { query: [{ name: matchKey, present: true }] } }
  }
  if (type === 'valueless-query-param') {
    return { value: { query: [{ name: matchKey, equals: '' }] } }
  }
  if (typeof matchValue === 'string') {
    return { value: { query: [{ name: matchKey, equals: matchValue }] } }
  }
  return { fault: `the parameter ${shown(matchKey)} has no value to compare with` }
}

/** Whether a text may be the name of a city in a rule. */
function isPlace(text: string): boolean {
  return text !== '' && text.length <= PLACE_LENGTH_MAX
}

function isInstant(text: string): boolean {
  try {
    Temporal.Instant.from(text)
    return true
  } catch {
    return false
  }
}
