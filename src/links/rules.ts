import { canonicalCountry } from '@terse/contract/countries'
import type { Rule, RuleInput, TimeSpan } from '@terse/contract/rules'
import { parseDestination } from '../hosts/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import type { FaultList, Parsed } from '../platform/failure.ts'
import { parseAddressPattern } from '../platform/network/ip-address.ts'
import { canonicalInstant } from '../platform/time/clock.ts'

/** Bytes of one link's rules, in their stored form. */
const RULES_BYTES_MAX = 64 * 1024
/** How ids are made: 40 random bits tell apart the rules of one link. */
const LINK_IDS = { prefix: '', bytes: 5 }

/** The URL parser encodes the braces of a placeholder in a path. */
const ENCODED_PLACEHOLDER = /%7Bquery\.([A-Za-z0-9_.~-]{1,100})%7D/gi
/** A destination up to the end of its host. */
const UP_TO_PATH = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/

/**
 * Returns rules in the form that is stored: destinations and instants in their canonical forms, and an id for each.
 *
 * @param input as the contract accepts it
 * @param on.ids of rules that have none: random bytes in hexadecimal behind a prefix
 * @param faults gets every field that is wrong
 */
export function parseRules(
  input: readonly RuleInput[],
  {
    appSchemes,
    random,
    hasCities,
    ids = LINK_IDS,
  }: {
    readonly appSchemes: readonly string[]
    readonly random: Random
    /** Whether visitors have cities. */
    readonly hasCities: boolean
    readonly ids?: typeof LINK_IDS
  },
  faults: FaultList,
): readonly Rule[] {
  const url = (field: string, text: string) =>
    faults.take(field, parseRuleDestination(text, appSchemes)) ?? text
  const instant = (field: string, text: string) => faults.take(field, parseInstant(text)) ?? text
  const rules = input.map((rule, index): Rule => {
    const at = `rules.${index}`
    const { split, end } = rule.then
    return {
      ...rule,
      id: rule.id ?? ids.prefix + Buffer.from(random(ids.bytes)).toString('hex'),
      // Without it where another field of the request is wrong: then the contract's default is not set.
      when: parseWhen(rule.when ?? {}, `${at}.when`, { instant, hasCities }, faults),
      then: {
        ...rule.then,
        ...(rule.then.url !== undefined && { url: url(`${at}.then.url`, rule.then.url) }),
        ...(split !== undefined && {
          split: split.map((variant, nth) => ({
            ...variant,
            url: url(`${at}.then.split.${nth}.url`, variant.url),
          })),
        }),
        ...(end !== undefined && { end: { ...end, at: instant(`${at}.then.end.at`, end.at) } }),
      },
    }
  })
  if (Buffer.byteLength(JSON.stringify(rules)) > RULES_BYTES_MAX) {
    faults.add('rules', { code: 'rules_too_large', max: RULES_BYTES_MAX })
  }
  return rules
}

/** In the host, or in an address of a person, a placeholder would let the visitor choose where the link leads. */
function parseRuleDestination(text: string, appSchemes: readonly string[]): Parsed<string> {
  const parsed = parseDestination(text, appSchemes)
  if ('fault' in parsed) return parsed
  const value = parsed.value.replace(ENCODED_PLACEHOLDER, '{query.$1}')
  const fixed = UP_TO_PATH.exec(value)?.[0] ?? value
  return fixed.includes('{query.') ? { fault: { code: 'misplaced_placeholder' } } : { value }
}

function parseInstant(text: string): Parsed<string> {
  const value = canonicalInstant(text)
  return value === undefined ? { fault: { code: 'invalid_instant' } } : { value }
}

type When = Rule['when']
type Conditions = Omit<When, 'not' | 'any'>
type Parsing = {
  readonly instant: (field: string, text: string) => string
  readonly hasCities: boolean
}

function parseWhen(
  { not, any, ...plain }: When,
  field: string,
  parsing: Parsing,
  faults: FaultList,
): When {
  const parse = (group: Conditions, at: string) => parseConditions(group, at, parsing, faults)
  return {
    ...parse(plain, field),
    ...(not !== undefined && { not: parse(not, `${field}.not`) }),
    ...(any !== undefined && {
      any: any.map((group, index) => parse(group, `${field}.any.${index}`)),
    }),
  }
}

function parseConditions(
  group: Conditions,
  field: string,
  { instant, hasCities }: Parsing,
  faults: FaultList,
): Conditions {
  const { address = [], country, referrer, time } = group
  for (const name of ['region', 'city'] as const) {
    if (group[name] !== undefined && !hasCities)
      faults.add(`${field}.${name}`, { code: 'no_cities' })
  }
  for (const [index, text] of address.entries()) {
    if (parseAddressPattern(text) !== undefined) continue
    faults.add(`${field}.address.${index}`, { code: 'invalid_network' })
  }
  const parseSpan = (span: TimeSpan, at: string): TimeSpan => ({
    ...span,
    ...(span.from !== undefined && { from: instant(`${at}.from`, span.from) }),
    ...(span.until !== undefined && { until: instant(`${at}.until`, span.until) }),
  })
  return {
    ...group,
    ...(country !== undefined && {
      country: country.map((text) => canonicalCountry(text) ?? text),
    }),
    ...(referrer !== undefined && { referrer: referrer.map((host) => host.toLowerCase()) }),
    ...(time !== undefined && {
      time: time.map((span, nth) => parseSpan(span, `${field}.time.${nth}`)),
    }),
  }
}
