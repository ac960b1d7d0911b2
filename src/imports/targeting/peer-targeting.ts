import { COUNTRIES } from '@terse/contract/countries'
import { RULES_MAX, type RuleInput } from '@terse/contract/rules'
import {
  type Converted,
  countryRules,
  type DeviceUrls,
  devicesFirst,
  isRecord,
  KEPT,
  nonEmpty,
  shown,
  type Targeting,
} from './targeting.ts'

type Unknowns = Readonly<Record<string, unknown>>

/** Rules for devices and for a split, which are added to those for countries. */
const OTHER_RULES_MAX = 3

/** A Dub link's targeting, under Dub's names. */
export type DubTargeting = DeviceUrls & {
  readonly geo?: unknown
  readonly testVariants?: unknown
  readonly testStartedAt?: unknown
  readonly testCompletedAt?: unknown
}

/**
 * Dub asks in this order: iOS, Android, country, then the variants of a test.
 *
 * @param nowMs decides whether a test still runs
 */
export function dubTargeting(link: DubTargeting, nowMs: number): Targeting {
  const countries = countryRules(link.geo, 'Dub', RULES_MAX - OTHER_RULES_MAX)
  const test = testRules(link, nowMs)
  return {
    ...devicesFirst(link, [...countries.rules, ...test.rules]),
    rest: { ...nonEmpty({ geo: countries.left }), ...test.left },
    notes: [...countries.notes, ...test.notes],
  }
}

/** Days for which Dub's cookie keeps the variant of a visitor. */
const DUB_COOKIE_DAYS = 7

/**
 * A test of Dub runs up to `testCompletedAt`. Then Dub looks which variant has the most leads; the visitors of Terse go
 * to the main destination, as Dub's own do where none has.
 */
function testRules(link: DubTargeting, nowMs: number): Converted<Unknowns> {
  const { testVariants, testStartedAt, testCompletedAt } = link
  const raw = nonEmpty({ testVariants, testStartedAt, testCompletedAt })
  const nothing = (note: string) => ({ rules: [], left: raw, notes: [note] })
  if (raw.testVariants === undefined) return { rules: [], left: raw, notes: [] }
  const variants = variantsOf(testVariants)
  if (variants === undefined) {
    return nothing(`The variants of its test at Dub cannot be read: ${KEPT}`)
  }
  const end = instantOf(testCompletedAt)
  if (end === undefined) {
    return nothing(
      'Its test at Dub has no end, and Dub runs none without: all visitors get the main destination.',
    )
  }
  if (end.ms <= nowMs) {
    return nothing('Its test at Dub has ended: all visitors get the main destination.')
  }
  const start = instantOf(testStartedAt)
  const from = start !== undefined && start.ms > nowMs ? { from: start.text } : {}
  const rule: RuleInput = {
    id: 'test',
    when: { time: [{ ...from, until: end.text }] },
    then: { split: variants, remember_days: DUB_COOKIE_DAYS },
  }
  const note = `Its test at Dub goes on until ${end.text}, with a cookie for ${DUB_COOKIE_DAYS} days; then all visitors get the main destination, as Terse chooses no winner.`
  return { rules: [rule], left: {}, notes: [note] }
}

const WEIGHT_MAX = 10_000
const VARIANTS_MAX = 20

/** Returns undefined for what cannot be a split. */
function variantsOf(value: unknown): NonNullable<RuleInput['then']['split']> | undefined {
  if (!Array.isArray(value) || value.length < 2 || value.length > VARIANTS_MAX) return undefined
  const variants = value.map((variant) => recordOf(variant))
  const shares = variants.map(({ percentage }) => Number(percentage ?? Number.NaN))
  if (!shares.every((share) => share >= 0 && share <= 100) || !shares.some((share) => share > 0)) {
    return undefined
  }
  // Weights are whole numbers.
  const scale = shares.every(Number.isInteger) ? 1 : WEIGHT_MAX / 100
  return variants.map(({ url }, index) => ({
    name: String.fromCharCode('A'.charCodeAt(0) + index),
    url: String(url ?? ''),
    weight: Math.round((shares[index] ?? 0) * scale),
  }))
}

/** A link of Sink, under Sink's names: a device is asked for before the country. */
export function sinkTargeting(devices: DeviceUrls, geo: unknown): Targeting {
  const { rules, left, notes } = countryRules(geo, 'Sink', RULES_MAX - OTHER_RULES_MAX)
  return { ...devicesFirst(devices, rules), rest: nonEmpty({ geo: left }), notes }
}

/** What is known of a Short.io link's targeting, under the names that `rest` has. */
export type ShortIoTargeting = DeviceUrls & {
  /** The answer of `/link_country`. */
  readonly countries?: unknown
  /** The answer of `/link_region`. */
  readonly regions?: unknown
  readonly splitURL?: unknown
  readonly splitPercent?: unknown
}

/** The set of countries that ISO 3166-1 reserves this code for. Short.io's other codes without a country are undocumented. */
const EU = 'EU'

/** Which of device and country Short.io asks for first is undocumented: here it is the device, as at other services. */
export function shortIoTargeting(link: ShortIoTargeting): Targeting {
  const { splitURL, splitPercent } = link
  const regions = listedRegions(link.regions)
  const countries = listedCountries(
    link.countries,
    RULES_MAX - OTHER_RULES_MAX - regions.rules.length,
  )
  // A visitor in the region is in the country too.
  const rules = [...regions.rules, ...countries.rules]
  const hasDevices = link.ios !== null || link.android !== null
  return {
    ...devicesFirst(link, rules),
    rest: nonEmpty({
      countries: countries.left,
      regions: regions.left,
      splitURL,
      ...(splitURL ? { splitPercent } : {}),
    }),
    notes: [
      ...countries.notes,
      ...(rules.length > 0 && hasDevices
        ? [
            'Short.io does not document whether the device or the country decides first: here it is the device.',
          ]
        : []),
      ...regions.notes,
      ...(splitURL
        ? [
            'Short.io splits visits between two destinations, and contradicts itself on whose share the percentage is: all visitors get the main one.',
          ]
        : []),
    ],
  }
}

/** The part of an ISO 3166-2 code behind the country, with or without the country before it. */
const REGION = /^(?:[A-Z]{2}-)?([A-Z0-9]{1,3})$/

/** A rule for each destination of some regions. */
function listedRegions(answer: unknown): Converted<unknown> {
  const list = listOf(answer)
  if (list.length === 0) {
    const isMissing = nonEmpty({ answer }).answer === undefined
    const note = `Its destinations by region at Short.io cannot be read: ${KEPT}`
    return { rules: [], left: answer, notes: isMissing ? [] : [note] }
  }
  const byUrl = new Map<string, Set<string>>()
  const left: unknown[] = []
  const notes: string[] = []
  for (const entry of list) {
    const { country, region, originalURL: url } = recordOf(entry)
    const [, part] = REGION.exec(String(region).toUpperCase()) ?? []
    const isFull = byUrl.size >= RULES_MAX / 2 && !byUrl.has(String(url))
    if (
      part === undefined ||
      typeof url !== 'string' ||
      !COUNTRIES.has(String(country)) ||
      isFull
    ) {
      left.push(entry)
      const why = isFull ? `a link has at most ${RULES_MAX} rules` : 'it is no code by ISO 3166-2'
      notes.push(`The region ${shown(`${country} ${region}`)} at Short.io: ${why}, so ${KEPT}`)
    } else {
      byUrl.set(url, (byUrl.get(url) ?? new Set()).add(`${country}-${part}`))
    }
  }
  const rules = [...byUrl].map(([url, codes]): RuleInput => {
    const [first = ''] = codes
    return { id: first.toLowerCase(), when: { region: [...codes] }, then: { url } }
  })
  return { rules, left, notes }
}

function listedCountries(answer: unknown, rulesMax: number): Converted<unknown> {
  const list = listOf(answer)
  if (list.length === 0) {
    const isMissing = nonEmpty({ answer }).answer === undefined
    const note = `Its destinations by country at Short.io cannot be read: ${KEPT}`
    return { rules: [], left: answer, notes: isMissing ? [] : [note] }
  }
  const codes: Record<string, unknown> = {}
  const left: unknown[] = []
  const notes: string[] = []
  let euUrl: string | undefined
  for (const entry of list) {
    const { country, originalURL: url } = recordOf(entry)
    if (typeof country !== 'string' || typeof url !== 'string' || Object.hasOwn(codes, country)) {
      left.push(entry)
      notes.push(`An entry for a country at Short.io cannot be read: ${shown(entry)}.`)
    } else if (country.toUpperCase() === EU) {
      euUrl = url
    } else {
      codes[country] = url
    }
  }
  const converted = countryRules(codes, 'Short.io', rulesMax)
  // Behind the countries, of which some are in the EU.
  const eu: RuleInput[] =
    euUrl === undefined ? [] : [{ id: 'eu', when: { country: [EU] }, then: { url: euUrl } }]
  const entries = Object.entries(recordOf(converted.left))
  left.push(...entries.map(([country, originalURL]) => ({ country, originalURL })))
  return { rules: [...converted.rules, ...eu], left, notes: [...converted.notes, ...notes] }
}

/** What the last part of a property's name says in Rebrandly, and the condition that it is here. */
const PROPERTIES: Readonly<Record<string, (value: string) => RuleInput['when'] | undefined>> = {
  country: (value) => {
    const country = value.toUpperCase()
    return COUNTRIES.has(country) ? { country: [country] } : undefined
  },
  language: (value) => (LANGUAGE.test(value) ? { language: [value.replace('_', '-')] } : undefined),
  os: (value) => {
    const system = SYSTEMS.get(value.toLowerCase().replace(/[^a-z]/g, ''))
    return system && { os: [system] }
  },
  type: (value) => {
    const kind = KINDS.get(value.toLowerCase())
    return kind && { device: [kind] }
  },
}
const LANGUAGE = /^[a-z]{2,3}(?:[-_][a-z]{2})?$/i
type System = NonNullable<RuleInput['when']['os']>[number]
const SYSTEMS: ReadonlyMap<string, System> = new Map([
  ['ios', 'ios'],
  ['android', 'android'],
  ['windows', 'windows'],
  ['macos', 'macos'],
  ['macosx', 'macos'],
  ['osx', 'macos'],
  ['linux', 'linux'],
  ['chromeos', 'chromeos'],
])
type Kind = NonNullable<RuleInput['when']['device']>[number]
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['mobile', 'phone'],
  ['phone', 'phone'],
  ['tablet', 'tablet'],
  ['desktop', 'desktop'],
])
/** Whether the values are those for which the condition holds, or those for which it does not. */
const OPERATORS: ReadonlyMap<unknown, 'when' | 'not'> = new Map([
  ['in', 'when'],
  ['is', 'when'],
  ['eq', 'when'],
  ['equals', 'when'],
  ['not in', 'not'],
  ['not_in', 'not'],
  ['nin', 'not'],
])

/**
 * Rebrandly's rules: in order, each a destination with conditions that must all hold. Only their form is known, not the
 * name under which a link has them, and not all names of properties: what is not recognized is kept.
 *
 * @param values what Rebrandly gives of a link
 */
export function rebrandlyTargeting(values: Unknowns): Targeting {
  const rules: RuleInput[] = []
  const rest: Record<string, unknown> = {}
  const notes: string[] = []
  for (const [name, value] of Object.entries(values)) {
    const listed = routesIn(value)
    if (listed.length === 0) continue
    const left = listed.filter((route, index) => {
      const made = routeRule(route, rules.length, index)
      if (typeof made !== 'string') rules.push(made)
      else notes.push(made)
      return typeof made === 'string'
    })
    if (left.length > 0) rest[name] = left
  }
  return { ios: null, android: null, rules, rest, notes }
}

/** Returns the names of the values in which a Rebrandly link has rules. */
export function rebrandlyRuleNames(values: Unknowns): readonly string[] {
  return Object.keys(values).filter((name) => routesIn(values[name]).length > 0)
}

type Route = { readonly destination: string; readonly condition: Unknowns }

/** Returns the rules in a value: a list of them, or an object that has such a list. */
function routesIn(value: unknown): readonly Route[] {
  const list = Array.isArray(value) ? value : recordOf(value).rules
  if (!Array.isArray(list)) return []
  const isRoute = (each: unknown): each is Route =>
    isRecord(each) && typeof each.destination === 'string' && isRecord(each.condition)
  return list.every(isRoute) ? list : []
}

/** Returns a rule, or why there is none, as a sentence. */
function routeRule(
  { destination, condition }: Route,
  before: number,
  index: number,
): RuleInput | string {
  const failed = (why: string) =>
    `Rule ${index + 1} at Rebrandly, to ${shown(destination)}: ${why}, so ${KEPT}`
  if (before >= RULES_MAX) return failed(`a link has at most ${RULES_MAX} rules`)
  const { and, ...others } = condition
  if (!Array.isArray(and) || and.length === 0 || Object.keys(others).length > 0) {
    return failed('its conditions are of another form')
  }
  const parts = { when: {} as Record<string, unknown>, not: {} as Record<string, unknown> }
  for (const test of and.map(recordOf)) {
    const name = String(test.property ?? '')
    const part = OPERATORS.get(test.operator)
    const convert = PROPERTIES[name.split('.').at(-1)?.toLowerCase() ?? '']
    const values = listOf(test.values).map((value) => convert?.(String(value)))
    const [[field] = []] = values.flatMap((value) => (value ? [Object.keys(value)] : []))
    if (part === undefined || field === undefined || values.includes(undefined)) {
      return failed(`the condition on ${shown(name)} is unknown`)
    }
    if (Object.hasOwn(parts[part], field)) return failed(`it has two conditions on ${shown(name)}`)
    parts[part][field] = values.flatMap((value) => Object.values(value ?? {}).flat())
  }
  const { when, not } = parts
  return {
    id: `rebrandly-${index + 1}`,
    when: { ...when, ...(Object.keys(not).length > 0 && { not }) },
    then: { url: destination },
  }
}

function recordOf(value: unknown): Unknowns {
  return isRecord(value) ? value : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function instantOf(value: unknown): { readonly text: string; readonly ms: number } | undefined {
  if (typeof value !== 'string') return undefined
  try {
    const instant = Temporal.Instant.from(value)
    return { text: instant.toString(), ms: instant.epochMilliseconds }
  } catch {
    return undefined
  }
}
