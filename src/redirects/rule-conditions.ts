import { COUNTRY_SETS } from '@terse/contract/countries'
import type { Conditions, QueryTest, Rule, TimeSpan, When } from '@terse/contract/rules'
import { isInPattern, parseAddressPattern } from '../platform/network/ip-address.ts'
import { type Language, offeredLanguages } from './languages.ts'
import type { RuleVisitor } from './rule-visitor.ts'

/** A condition of a rule. */
export type Condition = {
  /** Its path in `when`: `country`, `not.os`, `any`. */
  readonly path: string
  readonly holds: (visitor: RuleVisitor) => boolean
  /** What the visit has that was asked for, in words of the API; '' if unknown or none. */
  readonly found: (visitor: RuleVisitor) => string
}

type Name = keyof Conditions

type Test = (visitor: RuleVisitor) => boolean

/** What a link's rules share. */
export type RuleContext = {
  /** The language, of all that the rules of the link name, that suits the visitor best. */
  readonly language: (visitor: RuleVisitor) => Language | undefined
}

/** Returns what the rules of one link share. */
export function ruleContext(rules: readonly Rule[]): RuleContext {
  const tags = new Set(rules.flatMap(({ when }) => languagesOf(when)))
  const offered = offeredLanguages([...tags])
  return { language: (visitor) => visitor.bestOf(offered) }
}

function languagesOf({ language = [], not, any = [] }: When): readonly string[] {
  return [...language, ...(not?.language ?? []), ...any.flatMap((group) => group.language ?? [])]
}

/** Compiles the conditions of a rule, which must all hold: cheap ones first, as they are listed in `COMPILERS`. */
export function compileWhen({ not, any, ...plain }: When, context: RuleContext): Condition[] {
  const conditions = compileAll(plain, context)
  for (const { path, holds, found } of compileAll(not ?? {}, context)) {
    conditions.push({ path: `not.${path}`, holds: (visitor) => !holds(visitor), found })
  }
  if (any !== undefined) conditions.push(compileAny(any, context))
  return conditions
}

/** Compiles groups of conditions, one of which must hold as a whole. */
function compileAny(any: readonly Conditions[], context: RuleContext): Condition {
  const groups = any.map((group) => compileAll(group, context))
  const names = new Map(groups.flat().map((condition) => [condition.path, condition]))
  return {
    path: 'any',
    holds: (visitor) => groups.some((group) => group.every(({ holds }) => holds(visitor))),
    found: (visitor) => [...names.values()].map(({ found }) => found(visitor)).join(', '),
  }
}

function compileAll(conditions: Conditions, context: RuleContext): Condition[] {
  return NAMES.flatMap((name) => {
    const holds = compileOne(name, conditions, context)
    if (holds === undefined) return []
    return [{ path: name, holds, found: (visitor) => FOUND[name](visitor, context) }]
  })
}

type Values = { readonly [N in Name]-?: NonNullable<Conditions[N]> }
type Compilers = { readonly [N in Name]: (values: Values[N], context: RuleContext) => Test }

const COMPILERS: Compilers = {
  qr: (expected) => (visitor) => visitor.isQr === expected,
  bot: (expected) => (visitor) => visitor.isBot === expected,
  device: (values) => oneOf(values, (visitor) => visitor.device),
  browser: (values) => oneOf(values, (visitor) => visitor.browser),
  os(values) {
    const wanted: ReadonlySet<string> = new Set(values)
    return ({ systems }) => systems.some((system) => wanted.has(system))
  },
  country: (values) =>
    oneOf(
      values.flatMap((value) => COUNTRY_SETS.get(value) ?? value),
      ({ place }) => place.country,
    ),
  region: (values) => oneOf(values.map(folded), ({ place }) => folded(place.region)),
  city: (values) => oneOf(values.map(folded), ({ place }) => folded(place.city)),
  language(values, { language }) {
    const wanted = new Set(values)
    return (visitor) => {
      const best = language(visitor)
      return best !== undefined && wanted.has(best.text)
    }
  },
  referrer: compileReferrer,
  label: (values) => oneOf(values, (visitor) => visitor.label),
  query(values) {
    const tests = values.map(compileQueryTest)
    return (visitor) => tests.some((holds) => holds(visitor))
  },
  address(values) {
    const patterns = values.flatMap((value) => parseAddressPattern(value) ?? [])
    return ({ address }) => patterns.some((pattern) => isInPattern(pattern, address))
  },
  time(values) {
    const tests = values.map(compileTimeSpan)
    return (visitor) => tests.some((holds) => holds(visitor.source.atMs))
  },
}

const NAMES = Object.keys(COMPILERS) as readonly Name[]

const FOUND: { readonly [N in Name]: (visitor: RuleVisitor, context: RuleContext) => string } = {
  qr: (visitor) => String(visitor.isQr),
  bot: (visitor) => String(visitor.isBot),
  device: (visitor) => visitor.device,
  browser: (visitor) => visitor.browser,
  os: (visitor) => visitor.systems[0] ?? '',
  country: ({ place }) => place.country,
  region: ({ place }) => place.region,
  city: ({ place }) => place.city,
  language: (visitor, { language }) =>
    language(visitor)?.text ?? visitor.source.acceptLanguage ?? '',
  referrer: (visitor) => visitor.referrer,
  label: (visitor) => visitor.label,
  query: (visitor) => visitor.source.query,
  address: (visitor) => visitor.source.address(),
  time: (visitor) => new Date(visitor.source.atMs).toISOString(),
}

function compileOne<N extends Name>(
  name: N,
  conditions: Conditions,
  context: RuleContext,
): Test | undefined {
  const values = conditions[name]
  return values === undefined ? undefined : COMPILERS[name](values as Values[N], context)
}

function folded(text: string): string {
  return text.toLowerCase()
}

function oneOf(values: readonly string[], factOf: (visitor: RuleVisitor) => string): Test {
  const wanted = new Set(values)
  return (visitor) => wanted.has(factOf(visitor))
}

function compileReferrer(hosts: readonly string[]): Test {
  const wanted = new Set(hosts.map((host) => (host === 'none' ? '' : host)))
  const suffixes = hosts.map((host) => `.${host}`)
  return ({ referrer }) =>
    wanted.has(referrer) || suffixes.some((suffix) => referrer.endsWith(suffix))
}

function compileQueryTest({ name, equals, contains, absent }: QueryTest): Test {
  if (equals !== undefined) {
    return ({ query }) => query.get(name)?.includes(equals) === true
  }
  if (contains !== undefined) {
    return ({ query }) => query.get(name)?.some((value) => value.includes(contains)) === true
  }
  return ({ query }) => query.has(name) !== (absent === true)
}

const DAY_MS = 24 * 60 * 60 * 1000
const MINUTE_MS = 60 * 1000
/** From Monday: 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 3
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

function compileTimeSpan({ from, until, weekdays, hours, zone }: TimeSpan) {
  const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from)
  const untilMs = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  const clock = new ZoneClock(zone ?? 'UTC')
  const days = new Set((weekdays ?? WEEKDAYS).map((day) => WEEKDAYS.indexOf(day)))
  const start = minuteOf(hours?.from ?? '00:00')
  const end = minuteOf(hours?.until ?? '24:00')
  const isOfClock = weekdays !== undefined || hours !== undefined
  return (atMs: number): boolean => {
    if (atMs < fromMs || atMs >= untilMs) return false
    if (!isOfClock) return true
    const localMs = clock.localMs(atMs)
    const minute = Math.floor((localMs - Math.floor(localMs / DAY_MS) * DAY_MS) / MINUTE_MS)
    const isAfterMidnight = start >= end && minute < end
    const isWithin = start < end ? minute >= start && minute < end : minute >= start || minute < end
    const day = Math.floor(localMs / DAY_MS) - (isAfterMidnight ? 1 : 0)
    return isWithin && days.has((((day + EPOCH_WEEKDAY) % 7) + 7) % 7)
  }
}

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}

/** The wall clock of a time zone. Keeps the offset until it next changes: to find one takes microseconds. */
class ZoneClock {
  readonly #zone: string
  #fromMs = 0
  #untilMs = 0
  #offsetMs = 0

  constructor(zone: string) {
    this.#zone = zone
  }

  /** Returns what the clock shows, as if it were UTC. */
  localMs(atMs: number): number {
    if (atMs < this.#fromMs || atMs >= this.#untilMs) this.#moveTo(atMs)
    return atMs + this.#offsetMs
  }

  #moveTo(atMs: number): void {
    const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs))
    const local = instant.toZonedDateTimeISO(this.#zone)
    const next = local.getTimeZoneTransition('next')
    this.#offsetMs = local.offsetNanoseconds / 1_000_000
    this.#fromMs = atMs
    this.#untilMs = next === null ? Number.POSITIVE_INFINITY : next.epochMilliseconds
  }
}
