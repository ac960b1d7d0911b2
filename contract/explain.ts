import { z } from 'zod'
import { FLAGS } from './clicks.ts'
import { COUNTRIES, canonicalCountry } from './countries.ts'
import { asMessage } from './faults.ts'
import { optionInputs } from './link-options.ts'
import { destinationInput, line, timestamp } from './primitives.ts'
import { rulesInput } from './rules.ts'

const AGENT_LENGTH_MAX = 1000
const HEADER_LENGTH_MAX = 500
const QUERY_LENGTH_MAX = 4000
const PATH_LENGTH_MAX = 4000
const KEPT_VARIANTS_MAX = 50

const country = z
  .string()
  .refine(
    (text) => COUNTRIES.has(canonicalCountry(text) ?? ''),
    asMessage({ code: 'invalid_country' }),
  )

/** A visitor as a person makes one up; everything may be left out. */
const madeUpVisitor = z
  .strictObject({
    country: country.optional().describe('ISO 3166-1 code such as `DE`; else that of the address.'),
    region: line(80).optional().describe('ISO 3166-2 code such as `US-CA`, or a name.'),
    city: line(80).optional().describe('The English name of a city.'),
    address: line(50)
      .optional()
      .describe('Their address, of IPv4 or IPv6. A split gives it the variant that it has today.'),
    agent: line(AGENT_LENGTH_MAX).optional().describe('The `User-Agent` header.'),
    language: line(HEADER_LENGTH_MAX)
      .optional()
      .describe('The `Accept-Language` header, such as `de` or `de-AT,en;q=0.8`.'),
    at: z.string().optional().describe('An ISO 8601 instant with a zone; else now.'),
    path: line(PATH_LENGTH_MAX)
      .optional()
      .describe(
        'The path of the visited address, such as `/docs/guide`, for a link that takes more of it than its key; else that of the key alone.',
      ),
    query: z
      .string()
      .max(QUERY_LENGTH_MAX)
      .optional()
      .describe('The query of the visited address, without the question mark: `a=1&b=2`.'),
    referrer: line(HEADER_LENGTH_MAX)
      .optional()
      .describe('The page with the link, as an address or as a host.'),
    label: line(100)
      .optional()
      .describe('A label: the same as `via=` in the query, or the parameter of the workspace.'),
    method: z.enum(['GET', 'HEAD']).optional().describe('`GET` when left out.'),
    qr: z.boolean().optional().describe('Whether they scanned a tracked QR code.'),
    prefetch: z.boolean().optional().describe('Whether their browser only prefetches the page.'),
    password: z.boolean().optional().describe('Whether they know the password of the link.'),
    variants: z
      .record(line(32), line(80))
      .refine(
        (kept) => Object.keys(kept).length <= KEPT_VARIANTS_MAX,
        asMessage({ code: 'too_many', max: KEPT_VARIANTS_MAX }),
      )
      .optional()
      .describe(
        'Variants that cookies keep for them: the name of the variant by the id of a rule.',
      ),
  })
  .meta({ id: 'MadeUpVisitor', description: 'A visitor of a link. Everything may be left out.' })

const EXAMPLES_MAX = 20

const exampleResult = z.object({
  kind: z.string().describe('What the visitor gets, as in an explanation.'),
  location: z.string().nullable().describe('Where they are sent; null for a page.'),
  rule: z.string().nullable().describe('Id of the rule that decides; null for none.'),
  variant: z.string().nullable().describe('Name of the variant.'),
})

const exampleInput = z.strictObject({
  name: line(100).describe('Such as `a phone in Japan still gets the app`.'),
  visitor: madeUpVisitor.default({}),
  expected: exampleResult
    .partial()
    .strict()
    .optional()
    .describe('What they get; what is left out is what they get now.'),
})

export const examplesInput = z
  .array(exampleInput)
  .max(EXAMPLES_MAX)
  .refine(
    (examples) => new Set(examples.map(({ name }) => name)).size === examples.length,
    asMessage({ code: 'repeated', reason: 'example' }),
  )

export const examplesBody = z.strictObject({ examples: examplesInput }).meta({
  id: 'ReplaceExamples',
  description: 'All examples of a link.',
  examples: [
    {
      examples: [
        { name: 'A phone in Japan gets the app', visitor: { country: 'JP', language: 'ja' } },
      ],
    },
  ],
})

export const examplesSchema = z
  .object({ examples: z.array(exampleInput.required({ expected: true })) })
  .meta({ id: 'LinkExamples', description: 'Visitors that are tried before a link changes.' })

/** In the query of requests that change where a link leads. */
export const acceptChangesQuery = z.strictObject({
  accept_changes: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'With `true`, results of the link’s examples may change. Else a change of one is refused with 409 `examples_changed`.',
    ),
})

export const explainBody = z
  .strictObject({
    ...madeUpVisitor.shape,
    click: line(30)
      .optional()
      .describe(
        'The `id` of a click that is still kept singly, as exports and the live view have it, in place of a made-up visitor. Needs the scope `clicks:read` too.',
      ),
    rules: rulesInput
      .optional()
      .describe('Rules to try in place of those of the link. They are checked, and not stored.'),
    url: destinationInput
      .optional()
      .describe('To try in place of the one of the link, not stored.'),
    rule_set: optionInputs.rule_set.describe(
      'The id of a rule set to try in place of the one of the link, not stored; null for none.',
    ),
  })
  .refine(
    ({ click, rules: _, url: __, rule_set: ___, ...visitor }) =>
      click === undefined || Object.values(visitor).every((value) => value === undefined),
    {
      path: ['click'],
      message: asMessage({ code: 'incompatible', reason: 'never', other: 'visitor' }),
    },
  )
  .meta({
    id: 'ExplainLink',
    description: 'A made-up visitor, or a recorded click.',
    examples: [{ country: 'AT', language: 'de', query: 'vip=1' }],
  })

const KINDS = [
  'redirect',
  'fallback',
  'ask-password',
  'expired',
  'used-up',
  'upcoming',
  'not-found',
  'preview',
  'loop',
  'unknown-host',
] as const

/** What decided where a visitor was sent. */
const DECIDERS = [
  'rule',
  'ios',
  'android',
  'url',
  'password',
  'expires_at',
  'active_from',
  'max_clicks',
  'preview',
  'expired_redirect_url',
  'domain_expired_url',
  'domain_not_found_url',
  'domain',
  'loop',
] as const

const deciderSchema = z.object({
  by: z.enum(DECIDERS).describe('A rule, or the field of the link or of its domain that decided.'),
  rule: z.string().nullable().describe('Id of the rule; null where none decided.'),
  name: z.string().nullable().describe('Name of the rule.'),
  variant: z.string().nullable().describe('Name of the variant of a split.'),
  chosen_by: z
    .enum(['weight', 'cookie', 'end'])
    .nullable()
    .describe('Why that variant: its weight, a cookie that keeps it, or the end of the split.'),
})

const failedCondition = z.object({
  path: z.string().describe('Where the condition is in the rule: `when.country`, `when.not.os`.'),
  wanted: z.unknown().describe('What the rule has there.'),
  found: z.string().describe('What the visitor has; empty for nothing, or for unknown.'),
})

const triedRule = z.object({
  id: z.string(),
  name: z.string().nullable(),
  of: z.enum(['link', 'rule_set']).describe('Whether it is a rule of the link, or of a set.'),
  result: z.enum(['decided', 'failed', 'not_tried']),
  failed: failedCondition.nullable().describe('The first condition that did not hold.'),
})

const urlParts = z.object({
  destination: z.string().describe('As it was set, with its placeholders.'),
  placeholders: z
    .array(
      z.object({
        of: z.enum(['query', 'path']).describe('Which part of the visited address filled it.'),
        name: z.string().describe('Of `{query.sku}` it is `sku`; of `{1}` or `{path}` the same.'),
        value: z.string().describe('Empty where the visitor had none.'),
      }),
    )
    .describe('The placeholders of the destination, and what filled them.'),
  path: z
    .string()
    .nullable()
    .describe('What the visitor’s path added to that of the destination; null for nothing.'),
  utm: z
    .array(
      z.object({
        of: z.enum(['link', 'domain']),
        name: z.string(),
        value: z.string(),
        replaces: z.boolean(),
      }),
    )
    .describe(
      'UTM values that are set: those of the link, and whether the destination had a parameter of that name; those of the domain where nothing else has one.',
    ),
  query: z
    .array(
      z.object({
        parameter: z.string().describe('As the visitor sent it.'),
        effect: z.enum(['added', 'replaces', 'removed']),
        reason: z
          .enum(['qr', 'label', 'placeholder', 'address_of_person', 'setting'])
          .nullable()
          .describe('Why it was removed.'),
      }),
    )
    .describe('What became of each parameter of the visitor’s query.'),
  replaced: z
    .array(z.string())
    .describe('Parameters of the destination whose place those of the visitor took.'),
  token: z
    .string()
    .nullable()
    .describe(
      'The parameter that gets the token of the visit, with which a conversion is reported; `location` has `(token)` in its place. Null where conversions are not tracked.',
    ),
})

const seenVisitor = z.object({
  at: timestamp,
  country: z.string().nullable(),
  region: z.string().nullable(),
  city: z.string().nullable(),
  device: z.string().nullable(),
  os: z.array(z.string()),
  browser: z.string().nullable(),
  bot: z.boolean(),
  language: z.string().nullable(),
  referrer: z.string().nullable(),
  label: z.string().nullable(),
  qr: z.boolean(),
})

export const explanationSchema = z
  .object({
    kind: z.enum(KINDS).describe('What the visitor gets: a redirect, or which page.'),
    status: z.int().describe('The status of the answer.'),
    location: z
      .string()
      .nullable()
      .describe('Where the visitor is sent; null for a page. Of a preview, where its page leads.'),
    instead_of: z
      .enum(['expired', 'used-up', 'upcoming', 'not-found'])
      .nullable()
      .describe('The page that a `fallback` stands in for; null for others.'),
    decided_by: deciderSchema,
    rules: z.array(triedRule).describe('Each rule of the link in its order, and what it did.'),
    url: urlParts.nullable().describe('Of what the location is made; null where there is none.'),
    counted: z
      .object({
        as: z
          .enum(['click', 'bot', 'nothing'])
          .describe('A click of a person, one of a bot, or none.'),
        flags: z
          .array(z.enum(FLAGS))
          .describe('Why it does not count as a click of a person, as exports have it.'),
      })
      .describe('How the visit counts. Pages count as nothing.'),
    visitor: seenVisitor.describe('The visitor as rules see them.'),
    unknown: z
      .array(z.string())
      .describe('Of a recorded click, what was not recorded: conditions on it may differ.'),
    recorded: z
      .object({ rule: z.string().nullable(), variant: z.string().nullable() })
      .nullable()
      .describe('What decided when the click was recorded; null for a made-up visitor.'),
    examples: z
      .array(
        z.object({
          name: z.string(),
          visitor: madeUpVisitor,
          expected: exampleResult.partial(),
          result: exampleResult,
          as_expected: z.boolean(),
        }),
      )
      .describe('The examples of the link, with what they would get.'),
    domain_works: z
      .boolean()
      .describe(
        'Whether the domain is proved. Before, each visitor gets a page that it is unknown.',
      ),
  })
  .meta({ id: 'Explanation', description: 'Why a visitor goes where.' })

export type MadeUpVisitor = z.output<typeof madeUpVisitor>
export type AcceptChangesQuery = z.output<typeof acceptChangesQuery>
export type ExampleResult = z.output<typeof exampleResult>
export type ExampleInput = z.output<typeof exampleInput>
export type LinkExamplesResource = z.output<typeof examplesSchema>
export type Example = LinkExamplesResource['examples'][number]
export type ExplainBody = z.output<typeof explainBody>
export type ExplanationResource = z.output<typeof explanationSchema>
