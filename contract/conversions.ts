import { z } from 'zod'
import { linksQuery, periodQuery } from './clicks.ts'
import { problemSchema } from './errors.ts'
import { asMessage } from './faults.ts'
import { parameterInput } from './labels.ts'
import { cursorText, perPageQuery, uncountedPageOf } from './pagination.ts'
import { integer, line, queryInteger, timestamp, uuid } from './primitives.ts'

const WINDOW_DAYS_MAX = 400

const settings = {
  track_conversions: z
    .boolean()
    .describe(
      'Whether destinations get a token where neither the link nor its domain says. `false` in a new workspace.',
    ),
  parameter: z
    .string()
    .describe(
      'The parameter of destinations that has the token: with `tc`, visitors arrive at `https://shop.example.com/?tc=…`.',
    ),
  window_days: z
    .int()
    .describe('For how many days after the visit its token is accepted; 30 in a new workspace.'),
}

export const conversionSettingsSchema = z.object(settings).meta({
  id: 'ConversionSettings',
  description: 'How conversions of the workspace are counted.',
})

export const conversionSettingsBody = z
  .strictObject({
    track_conversions: z.boolean().describe(settings.track_conversions.description ?? ''),
    parameter: parameterInput
      .optional()
      .describe(
        'A letter, then at most 31 letters, digits, `_` and `-`; letter case matters. Not `qr`, and not a UTM parameter. Left out, it stays.',
      ),
    window_days: integer(WINDOW_DAYS_MAX, 1)
      .optional()
      .describe(
        `From 1 to ${WINDOW_DAYS_MAX} days, for tokens of earlier visits too. Left out, it stays.`,
      ),
  })
  .meta({
    id: 'WriteConversionSettings',
    description: 'How conversions of the workspace are counted.',
    examples: [{ track_conversions: true, parameter: 'tc', window_days: 30 }],
  })

export type ConversionSettingsResource = z.output<typeof conversionSettingsSchema>

/** Reports of one request. */
const CONVERSIONS_MAX = 1_000
/** In minor units: more than any order, and sums of it stay exact. */
export const VALUE_MAX = 1_000_000_000_000
const TOKEN_LENGTH_MAX = 1_200
const EVENT_LENGTH_MAX = 80
const KEY_LENGTH_MAX = 255

export const conversionInput = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(TOKEN_LENGTH_MAX)
      .describe('The token with which the visitor came to your site.'),
    event: line(EVENT_LENGTH_MAX)
      .trim()
      .min(1)
      .describe('What happened, in your words: `order`, `sign-up`.'),
    value: integer(VALUE_MAX, -VALUE_MAX)
      .nullable()
      .optional()
      .describe(
        'Its value in minor units of the currency: 7490 for 74.90 EUR, 500 for 500 JPY. Negative for a refund.',
      ),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/, asMessage({ code: 'invalid_currency' }))
      .toUpperCase()
      .nullable()
      .optional()
      .describe('ISO 4217 code of three letters; with a value, and only with one.'),
    idempotency_key: line(KEY_LENGTH_MAX)
      .nullable()
      .optional()
      .describe(
        'Your own name of this report, such as the number of the order: repeated, it gets the same answer, and counts once.',
      ),
    occurred_at: z
      .string()
      .nullable()
      .optional()
      .describe(
        'An ISO 8601 instant with a zone, not before the visit and not later than now; now when left out. Clocks may differ by 5 minutes.',
      ),
  })
  .meta({ id: 'ReportConversion', description: 'What a visitor did.' })

export const conversionsBody = z
  .union([conversionInput, z.array(conversionInput).min(1).max(CONVERSIONS_MAX)])
  .meta({
    id: 'ReportConversions',
    description: `One conversion, or up to ${CONVERSIONS_MAX.toLocaleString('en')} in an array.`,
    examples: [
      {
        token: 'q5wUtPdZb0Yk3mVJ8xWn1sRcGa7HfLeT2uOiQyBzKDMpXvEA',
        event: 'order',
        value: 7490,
        currency: 'EUR',
        idempotency_key: 'order-1042',
      },
    ],
  })

/** Items are validated one by one, so that each has a result of its own. */
export const conversionsEnvelope = z.union([
  z.array(z.unknown()).min(1).max(CONVERSIONS_MAX),
  conversionInput,
])

const known = z.string().nullable()

export const conversionSchema = z
  .object({
    id: uuid.describe('The identifier.'),
    event: z.string().describe('What happened.'),
    value: z.int().nullable().describe('In minor units of the currency; negative for a refund.'),
    currency: known.describe('ISO 4217 code; null without a value.'),
    occurred_at: timestamp.describe('When it happened.'),
    recorded_at: timestamp.describe('When it was reported.'),
    clicked_at: timestamp.describe('When the visitor was redirected, to the millisecond.'),
    link_id: uuid.describe('The link that brought the visitor.'),
    domain: z.string().describe('Domain of the link.'),
    key: z.string().describe('Key of the link.'),
    country: known.describe('ISO 3166-1 alpha-2 code of the visit; null where it was not known.'),
    rule: known.describe('Id of the rule that matched; null if none did.'),
    variant: known.describe('Name of the variant that the visitor got; null if there was none.'),
    label: known.describe('Label of the visit; null for none.'),
  })
  .meta({ id: 'Conversion', description: 'What a visitor did.' })

const conversionResult = z.object({
  index: z.int().describe('Place in the request, from 0.'),
  status: z
    .enum(['recorded', 'repeated', 'failed'])
    .describe('`repeated`: a report with this idempotency key was recorded before.'),
  conversion: conversionSchema.nullable().describe('Null where it failed.'),
  error: problemSchema.nullable().describe('Why it failed.'),
})

const conversionResults = z
  .object({
    recorded: z.int(),
    repeated: z.int(),
    failed: z.int(),
    results: z.array(conversionResult).describe('One for each report, in their order.'),
  })
  .meta({ id: 'ConversionResults', description: 'What became of each report.' })

export const conversionsAnswer = z.union([conversionSchema, conversionResults]).meta({
  id: 'ReportedConversions',
  description: 'The conversion, or for an array what became of each.',
})

/** The dimensions that a conversion has itself, and not by its link. */
export const CONVERSION_DIMENSIONS = [
  'event',
  'currency',
  'country',
  'rule',
  'variant',
  'label',
] as const
const LINK_DIMENSIONS = ['tag', 'utm_source', 'utm_medium', 'utm_campaign'] as const
const GROUPS = [...CONVERSION_DIMENSIONS, ...LINK_DIMENSIONS, 'link'] as const
const INTERVALS = ['hour', 'day', 'month'] as const
const FILTER_LINKS_MAX = 10
const FILTER_LENGTH_MAX = 500
const VALUES_MAX = 50
const GROUPS_MAX = 1_000
const GROUPS_DEFAULT = 10

const repeatable = z
  .preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    z.array(z.string().max(FILTER_LENGTH_MAX)).max(VALUES_MAX),
  )
  .optional()

const filters = {
  event: repeatable.describe(
    'Conversions of this event. As with every filter: if sent several times, of any of the values; letter case matters; an empty value selects conversions without one.',
  ),
  currency: repeatable.describe('Conversions in this currency.'),
  country: repeatable.describe('Country of the visit.'),
  rule: repeatable.describe('Id of the rule that matched.'),
  variant: repeatable.describe('Name of the variant that the visitor got.'),
  label: repeatable.describe('Label of the visit.'),
  tag: repeatable.describe('Conversions of links that carry this tag now.'),
  link: linksQuery(FILTER_LINKS_MAX).optional().describe('Conversions of this link.'),
}

export const conversionsQuery = z.strictObject({
  ...periodQuery,
  per_page: perPageQuery,
  cursor: cursorText
    .optional()
    .describe(
      'The `meta.next_cursor` of the previous page, with the other parameters unchanged; empty or left out for the first page. Only for a list.',
    ),
  interval: z
    .enum(INTERVALS)
    .optional()
    .describe('Counts by intervals of this length, in place of a list.'),
  group_by: z
    .enum(GROUPS)
    .optional()
    .describe('Counts by this dimension, in place of a list; values with the most first.'),
  limit: queryInteger(GROUPS_MAX)
    .optional()
    .describe(`Values to return with \`group_by\`; ${GROUPS_DEFAULT} when left out.`),
  ...filters,
})

export const exportConversionsQuery = z.strictObject({
  format: z.enum(['csv', 'ndjson']).optional().describe('`csv` when left out.'),
  ...periodQuery,
  ...filters,
})

const amounts = z
  .array(
    z.object({
      currency: z.string(),
      conversions: z.int().describe('Conversions with a value in this currency.'),
      value: z.int().describe('Their sum in minor units, less refunds.'),
      refunds: z.int().describe('Reports with a negative value.'),
      refunded: z.int().describe('Their sum, which is negative or 0.'),
    }),
  )
  .describe('One for each currency; the one with the most conversions first. Never added up.')

const sums = {
  conversions: z.int().describe('Conversions without refunds.'),
  refunds: z.int().describe('Reports with a negative value.'),
  values: amounts,
}
const visits = z.int().describe('Visits that led to at least one conversion, each counted once.')
const start = timestamp.describe('Start of the interval, in the requested zone.')
const point = z.object({ start, ...sums })

export const conversionReport = z
  .object({
    from: timestamp.describe('Start of the counted period, rounded to a quarter hour.'),
    to: timestamp.describe('End of the counted period, exclusive, rounded to a quarter hour.'),
    timezone: z.string().describe('The zone in which days and months start.'),
    interval: z.enum(INTERVALS).nullable().describe('Null when counted only by value.'),
    group_by: z.enum(GROUPS).nullable().describe('Null when counted only by interval.'),
    total: z.object({ ...sums, visits }).describe('The whole period.'),
    points: z
      .array(point)
      .nullable()
      .describe('Every interval in order; null without `interval`, and with `group_by`.'),
    groups: z
      .array(
        z.object({
          value: known.describe('Null for conversions without one.'),
          link: z
            .object({ id: z.string(), domain: z.string(), key: z.string(), url: z.string() })
            .nullable()
            .optional()
            .describe('With `group_by=link`: the link.'),
          ...sums,
          visits,
          points: z
            .array(point)
            .optional()
            .describe('One for each interval, when `interval` is given.'),
        }),
      )
      .nullable()
      .describe(
        'The values with the most conversions, in descending order; null without `group_by`.',
      ),
    rest: z
      .object({
        values_left: z.int().describe('The number of other values.'),
        ...sums,
        visits,
      })
      .nullable()
      .describe('The sum of all other values; null without `group_by`.'),
  })
  .meta({ id: 'ConversionReport', description: 'Conversions by interval, or by values.' })

export const conversionPage = uncountedPageOf(conversionSchema, 'ConversionPage')

/** A list, or a report with `interval` or `group_by`. */
export const conversionsList = z.union([conversionPage, conversionReport]).meta({
  id: 'Conversions',
  description: 'A page of conversions; a report with `interval` or `group_by`.',
})

export type ConversionInput = z.output<typeof conversionInput>
export type ConversionResource = z.output<typeof conversionSchema>
export type ConversionResultsResource = z.output<typeof conversionResults>
export type ConversionsQuery = z.output<typeof conversionsQuery>
export type ConversionReportResource = z.output<typeof conversionReport>
export type ConversionPageResource = z.output<typeof conversionPage>
