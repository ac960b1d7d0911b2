import { COUNTRIES } from '@terse/contract/countries'
import { RULES_MAX, type RuleInput } from '@terse/contract/rules'

/** What another service's targeting of one link becomes. */
export type Targeting = {
  readonly ios: string | null
  readonly android: string | null
  readonly rules: readonly RuleInput[]
  /** What could not be carried over, under the names of the service. */
  readonly rest: Readonly<Record<string, unknown>>
  /** A sentence for the report on each condition that could not be carried over, or that means something else now. */
  readonly notes: readonly string[]
}

/** Destinations for devices, which a link has as fields. */
export type DeviceUrls = { readonly ios: string | null; readonly android: string | null }

/** Rules that were made of a part of a targeting, and what is left of that part. */
export type Converted<Left> = {
  readonly rules: readonly RuleInput[]
  readonly left: Left
  readonly notes: readonly string[]
}

/**
 * Puts the destinations for devices before rules. Terse tries rules first, so with rules they become the first ones.
 *
 * @param rules of which all visitors on iOS and Android are to be left out who have a destination
 */
export function devicesFirst(
  { ios, android }: DeviceUrls,
  rules: readonly RuleInput[],
): DeviceUrls & Pick<Targeting, 'rules'> {
  if (rules.length === 0) return { ios, android, rules }
  const devices = [
    ...(ios === null ? [] : [deviceRule('ios', ios)]),
    ...(android === null ? [] : [deviceRule('android', android)]),
  ]
  return { ios: null, android: null, rules: [...devices, ...rules] }
}

/** The `id` is the same in every run, so that a second import changes no rule, and clicks stay counted by it. */
function deviceRule(os: 'ios' | 'android', url: string): RuleInput {
  return { id: os, when: { os: [os] }, then: { url } }
}

/**
 * Makes a rule for each destination of some countries. Their order does not matter: a visitor is in one.
 *
 * @param codes as the service has them, with their destinations
 * @param service for the sentences
 * @param rulesMax how many more rules the link may have
 */
export function countryRules(
  codes: unknown,
  service: string,
  rulesMax: number,
): Converted<unknown> {
  if (isEmpty(codes)) return { rules: [], left: undefined, notes: [] }
  if (!isRecord(codes)) {
    const note = `Its destinations by country at ${service} cannot be read: ${KEPT}`
    return { rules: [], left: codes, notes: [note] }
  }
  const byUrl = new Map<string, string[]>()
  const left: Record<string, unknown> = {}
  const notes: string[] = []
  for (const [code, url] of Object.entries(codes)) {
    const country = code.toUpperCase()
    if (typeof url !== 'string' || url === '') {
      left[code] = url
      notes.push(`The destination of ${shown(code)} at ${service} is no address.`)
    } else if (!COUNTRIES.has(country)) {
      left[code] = url
      notes.push(`${shown(code)} at ${service} is no country by ISO 3166-1: ${KEPT}`)
    } else if (!byUrl.has(url) && byUrl.size >= rulesMax) {
      left[code] = url
      notes.push(`${country} at ${service} is left out, as a link has at most ${RULES_MAX} rules.`)
    } else {
      byUrl.set(url, [...(byUrl.get(url) ?? []), country])
    }
  }
  const rules = [...byUrl].map(([url, countries]): RuleInput => {
    const [first = ''] = countries
    return { id: first.toLowerCase(), when: { country: countries }, then: { url } }
  })
  return { rules, left, notes }
}

/** What ends the sentence on a condition. */
export const KEPT = 'it is kept beside the link only.'

/** A value of a service in a sentence. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return `"${text.slice(0, 100)}"`
}

/** Returns the entries whose values hold something. */
export function nonEmpty(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value)))
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
