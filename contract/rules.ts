import { z } from 'zod'
import { COUNTRY_SETS, canonicalCountry } from './countries.ts'
import { asMessage } from './faults.ts'
import { destinationInput, integer, line } from './primitives.ts'

/** The maximum number of rules of one link. */
export const RULES_MAX = 50
const VALUES_MAX = 250
const NAME_LENGTH_MAX = 100
/** At most 240 bytes of UTF-8: the values of clicks have at most 253. */
const VARIANT_NAME_LENGTH_MAX = 80
/** Characters of the name of a region or city. */
export const PLACE_LENGTH_MAX = 80
const ALTERNATIVES_MAX = 10
const VARIANTS_MAX = 20
const WEIGHT_MAX = 10_000
const REMEMBER_DAYS_MAX = 365

const DEVICES = ['phone', 'tablet', 'desktop', 'tv', 'console'] as const
const SYSTEMS = [
  'ios',
  'ipados',
  'android',
  'windows',
  'macos',
  'linux',
  'chromeos',
  'harmonyos',
] as const
const BROWSERS = [
  'chrome',
  'safari',
  'firefox',
  'edge',
  'opera',
  'samsung-internet',
  'android-browser',
  'brave',
  'duckduckgo',
  'google-search',
  'internet-explorer',
  'amazon-silk',
  'uc-browser',
  'vivaldi',
  'yandex-browser',
  'facebook',
  'instagram',
  'linkedin',
  'pinterest',
  'snapchat',
  'tiktok',
  'wechat',
] as const
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** The id of a rule, by which its clicks are counted. */
const RULE_ID = /^[a-z0-9_-]{1,32}$/
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?$/i
const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/
const REFERRER = /^(?:none|[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)$/i

const oneOrMore = <T extends z.ZodType>(value: T) => z.array(value).min(1).max(VALUES_MAX)

const isTimeZone = (zone: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Refuses an object that has none or several of these fields. */
function exactlyOneOf<T extends z.ZodObject>(schema: T, names: readonly string[]): T {
  const message = asMessage({ code: 'exactly_one_of', allowed: names })
  return schema.refine(
    (value) => names.filter((name) => value[name] !== undefined).length === 1,
    message,
  )
}

const country = z
  .string()
  .refine(
    (text) => canonicalCountry(text) !== undefined,
    asMessage({ code: 'unknown_country', allowed: [...COUNTRY_SETS.keys()] }),
  )

const queryTest = exactlyOneOf(
  z.strictObject({
    name: line(100).describe('The name of the parameter, in this letter case.'),
    equals: z.string().max(500).optional().describe('Its value; empty for one without a value.'),
    contains: line(500).optional().describe('Text that its value has in it, in this letter case.'),
    present: z.literal(true).optional().describe('Whether it is there, whatever its value.'),
    absent: z.literal(true).optional().describe('Whether it is missing.'),
  }),
  ['equals', 'contains', 'present', 'absent'],
)

const timeOfDay = z
  .string()
  .regex(TIME_OF_DAY, asMessage({ code: 'invalid_time_of_day' }))
  .describe('`HH:MM` from `00:00` to `24:00`.')

const timeSpan = z
  .strictObject({
    from: z.string().optional().describe('An ISO 8601 instant with a zone: this one or later.'),
    until: z.string().optional().describe('An ISO 8601 instant with a zone: before this one.'),
    weekdays: oneOrMore(z.enum(WEEKDAYS)).optional().describe('Days in the time zone.'),
    hours: z
      .strictObject({ from: timeOfDay, until: timeOfDay })
      .optional()
      .describe(
        'Hours in the time zone, without the end. Those from `22:00` to `06:00` go on into the next day, and belong to the day on which they begin.',
      ),
    zone: z
      .string()
      .refine(isTimeZone, asMessage({ code: 'invalid_time_zone' }))
      .optional()
      .describe('The IANA time zone of weekdays and hours, such as `Europe/Berlin`; else UTC.'),
  })
  .refine(
    ({ from, until, weekdays, hours }) =>
      [from, until, weekdays, hours].some((part) => part !== undefined),
    asMessage({ code: 'at_least_one_of', allowed: ['from', 'until', 'weekdays', 'hours'] }),
  )

const conditions = {
  country: oneOrMore(country)
    .optional()
    .describe(
      `ISO 3166-1 codes such as \`DE\`, or sets: ${[...COUNTRY_SETS.keys()].map((name) => `\`${name}\``).join(', ')}.`,
    ),
  region: oneOrMore(line(PLACE_LENGTH_MAX))
    .optional()
    .describe(
      'Regions: ISO 3166-2 codes such as `US-CA`, or English names such as `California`, as the database of the operator has them. Only where `TERSE_COUNTRY_DATABASE` has cities.',
    ),
  city: oneOrMore(line(PLACE_LENGTH_MAX))
    .optional()
    .describe(
      'English names of cities, in any letter case. Only where `TERSE_COUNTRY_DATABASE` has cities.',
    ),
  device: oneOrMore(z.enum(DEVICES)).optional().describe('Kinds of device.'),
  os: oneOrMore(z.enum(SYSTEMS))
    .optional()
    .describe(
      'Operating systems. `ios` is iPhones and iPads, `ipados` iPads alone. Safari on an iPad that asks for desktop pages says that it is a Mac.',
    ),
  browser: oneOrMore(z.enum(BROWSERS)).optional().describe('Browsers, and the apps that have one.'),
  language: oneOrMore(z.string().regex(LANGUAGE, asMessage({ code: 'invalid_language' })))
    .optional()
    .describe(
      'Language tags such as `de` or `pt-BR`. Of those that the rules of the link name, the one that the visitor’s browser prefers.',
    ),
  query: oneOrMore(queryTest).optional().describe('Parameters of the visitor’s query.'),
  referrer: oneOrMore(
    z
      .string()
      .max(253)
      .regex(REFERRER, asMessage({ code: 'invalid_host', reason: 'form' })),
  )
    .optional()
    .describe('Hosts of the page with the link, with their subdomains; `none` for no such page.'),
  address: oneOrMore(z.string().max(50))
    .optional()
    .describe(
      'Addresses and networks of IPv4 and IPv6, such as `192.0.2.0/24`; `*` stands for any number of an IPv4 address.',
    ),
  time: oneOrMore(timeSpan).optional().describe('Times at which the visit happens.'),
  label: oneOrMore(line(100)).optional().describe('Labels: what the visitor’s query has as `via`.'),
  qr: z.boolean().optional().describe('Whether the visitor scanned a tracked QR code.'),
  bot: z.boolean().optional().describe('Whether the visitor is a known bot.'),
}

const plainConditions = z.strictObject(conditions).meta({
  id: 'Conditions',
  description: 'Conditions of a visit. Of the values of a condition one is enough.',
})

const when = z
  .strictObject({
    ...conditions,
    not: plainConditions.optional().describe('Conditions none of which may hold.'),
    any: z
      .array(plainConditions)
      .min(1)
      .max(ALTERNATIVES_MAX)
      .optional()
      .describe('Groups of conditions. All conditions of at least one group must hold.'),
  })
  .meta({
    id: 'RuleConditions',
    description: 'Conditions that must all hold. Of the values of a condition one is enough.',
  })

const variant = z.strictObject({
  name: line(VARIANT_NAME_LENGTH_MAX).describe('Unique in the split. Clicks are counted by it.'),
  url: destinationInput.describe('The destination of this variant.'),
  weight: integer(WEIGHT_MAX, 0).describe('Its share is its part of the sum of all weights.'),
})

const hasDistinct = (names: readonly string[]) => new Set(names).size === names.length

const then = exactlyOneOf(
  z.strictObject({
    url: destinationInput
      .optional()
      .describe('The destination. `{query.name}` stands for a parameter of the visitor’s query.'),
    split: z
      .array(variant)
      .min(2)
      .max(VARIANTS_MAX)
      .refine(
        (variants) => hasDistinct(variants.map(({ name }) => name)),
        asMessage({ code: 'repeated', reason: 'variant' }),
      )
      .refine(
        (variants) => variants.some(({ weight }) => weight > 0),
        asMessage({ code: 'no_weight' }),
      )
      .optional()
      .describe('Variants among which visitors are divided. A visitor keeps theirs for a day.'),
    remember_days: integer(REMEMBER_DAYS_MAX, 1)
      .optional()
      .describe('Days for which a cookie keeps the variant of a visitor; a day without it.'),
    end: z
      .strictObject({
        at: z.string().describe('An ISO 8601 instant with a zone.'),
        variant: z.string().describe('The name of the variant that all visitors get from then on.'),
      })
      .optional()
      .describe('When the split ends, and in favour of which variant.'),
  }),
  ['url', 'split'],
)
  .refine((target) => target.split !== undefined || target.remember_days === undefined, {
    path: ['remember_days'],
    message: asMessage({ code: 'incompatible', reason: 'only', other: 'split' }),
  })
  .refine((target) => target.split !== undefined || target.end === undefined, {
    path: ['end'],
    message: asMessage({ code: 'incompatible', reason: 'only', other: 'split' }),
  })
  .refine(
    ({ split, end }) =>
      end === undefined || split === undefined || split.some(({ name }) => name === end.variant),
    { path: ['end', 'variant'], message: asMessage({ code: 'unknown_variant' }) },
  )
  .meta({ id: 'RuleTarget', description: 'Where visitors go: either `url` or `split`.' })

const ruleId = z.string().regex(RULE_ID, asMessage({ code: 'invalid_rule_id' }))

const RULE = 'Conditions, and where visitors go who meet them.'

const ruleInput = z
  .strictObject({
    id: ruleId.optional().describe('Made when left out. Clicks are counted by it.'),
    name: line(NAME_LENGTH_MAX).optional().describe('For people.'),
    when: when.default({}),
    then,
  })
  .meta({ id: 'WriteRule', description: RULE })

const rule = ruleInput.required({ id: true }).meta({ id: 'Rule', description: RULE })

export const rulesInput = z
  .array(ruleInput)
  .max(RULES_MAX)
  .refine(
    (rules) => hasDistinct(rules.flatMap(({ id }) => id ?? [])),
    asMessage({ code: 'repeated', reason: 'rule' }),
  )
  .describe(`In their order: the first that matches decides. At most ${RULES_MAX}.`)

export const rulesBody = z.strictObject({ rules: rulesInput }).meta({
  id: 'ReplaceRules',
  description: 'All rules of a link.',
  examples: [
    { rules: [{ when: { country: ['DE', 'AT'] }, then: { url: 'https://example.com/de' } }] },
  ],
})

export const rulesSchema = z
  .object({ rules: z.array(rule) })
  .meta({ id: 'LinkRules', description: 'The rules of a link, in their order.' })

export type RuleInput = z.output<typeof ruleInput>
export type LinkRulesResource = z.output<typeof rulesSchema>
export type Rule = z.output<typeof rule>
export type Conditions = z.output<typeof plainConditions>
export type When = z.output<typeof when>
export type Then = z.output<typeof then>
export type TimeSpan = z.output<typeof timeSpan>
export type QueryTest = z.output<typeof queryTest>
