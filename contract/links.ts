import { z } from 'zod'
import { asMessage } from './faults.ts'
import {
  fromFields,
  LINK_DOES,
  LINK_TEXTS,
  type LinkText,
  type LinkTextKind,
  TEXTS_AFTER_COUNTERS,
  TEXTS_BEFORE_COUNTERS,
} from './link-fields.ts'
import { linkOptionsSchema, optionInputs } from './link-options.ts'
import { setName } from './managed.ts'
import { clickedPageOf, pageQuery } from './pagination.ts'
import {
  destinationInput,
  fieldsQuery,
  instantInput,
  line,
  queryInteger,
  timestamp,
  uuid,
} from './primitives.ts'
import { rulesSchema } from './rules.ts'

const KEY_LENGTH_MAX = 190
const KEY_VARIANTS_MAX = 16
const TAGS_MAX = 50
const TAG_LENGTH_MAX = 50
const UTM_LENGTH_MAX = 500
/** The maximum number of tags in the filter of one list. */
const FILTER_TAGS_MAX = 10
const FILTER_DOMAINS_MAX = 50
/** UTF-16 code units: many times those of the longest key in any normal form. */
const FILTER_KEY_LENGTH_MAX = 2_000
/** A short link with the longest key, percent-encoded, has about 2,600 characters, and may have a query. */
const SEARCH_LENGTH_MAX = 8_000
const PASSWORD_LENGTH_MAX = 512
const EXTERNAL_ID = asMessage({
  code: 'out_of_range',
  min: Number.MIN_SAFE_INTEGER,
  max: Number.MAX_SAFE_INTEGER,
})
const ARCHIVED = ['true', 'false', 'any'] as const
const STATES = ['active', 'expired', 'protected'] as const

/** How a request gives a text of each kind; the rules of URLs and instants are checked later. */
const TEXT_INPUTS: { readonly [K in LinkTextKind]: z.ZodString } = {
  destination: destinationInput,
  app_destination: destinationInput,
  utm: line(UTM_LENGTH_MAX),
  password: line(PASSWORD_LENGTH_MAX),
  instant: z.string(),
}

function requested(field: LinkText) {
  const { kind, answer, request = answer } = LINK_TEXTS[field]
  return TEXT_INPUTS[kind].nullable().optional().describe(request)
}

function answered(field: LinkText) {
  const { kind, answer } = LINK_TEXTS[field]
  return (kind === 'instant' ? timestamp : z.string()).nullable().describe(answer)
}

/** A link in answers of the API: the 23 fields of the specification's table. */
export const linkSchema = z
  .object({
    id: uuid.describe('Link identifier.'),
    workspace_id: uuid.describe('Workspace that owns the link.'),
    domain: z.string().describe('The domain of the link.'),
    key: z.string().describe('Path key of the short link.'),
    url: z.string().describe('The destination.'),
    link: z.string().describe('The short link: `https://<domain>/<key>`.'),
    ...fromFields(TEXTS_BEFORE_COUNTERS, answered),
    clicks: z.int().nullable().describe('Clicks by people; null in the response to a create.'),
    last_click: z.int().nullable().describe('Unix time of the last click, in seconds.'),
    external_id: z.int().nullable().describe('Identifier of the link in an external system.'),
    ...fromFields(TEXTS_AFTER_COUNTERS, answered),
    tags: z.array(z.string()).describe('Tags, in the order in which they were set.'),
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('When it was last changed.'),
  })
  .meta({ id: 'Link', description: 'A short link.' })

/** What may be requested beside the fields of a link. */
const INCLUDES = ['options', 'rules'] as const

const include = fieldsQuery(INCLUDES).describe(
  'What each link has beside its own fields: `options`, its options, and how many rules and splits it has; `rules`, its rules.',
)

const INCLUDED = 'Only with `include=options`: '

/** A link with what `include` requests beside its fields. */
export const includingLinkSchema = linkSchema
  .extend({
    options: linkOptionsSchema.optional().describe(`${INCLUDED}its options.`),
    rule_count: z.int().optional().describe(`${INCLUDED}how many rules of its own it has.`),
    split_count: z
      .int()
      .optional()
      .describe(`${INCLUDED}how many of its rules split their visitors.`),
    rules: rulesSchema.shape.rules
      .optional()
      .describe('Only with `include=rules`: its own rules, in their order.'),
  })
  .meta({ id: 'IncludingLink', description: 'A short link, with what `include` requests.' })

export const getLinkQuery = z.object({ include })

export const linkPage = clickedPageOf(includingLinkSchema, 'LinkPage')
/** A page of links that have only the fields of the parameter `fields`, and what `include` requests. */
export const linkFieldsPage = clickedPageOf(
  includingLinkSchema
    .partial()
    .meta({ id: 'LinkFields', description: 'The fields of a link that `fields` names.' }),
  'LinkFieldsPage',
)
export type LinkPageMeta = z.output<typeof linkPage>['meta']

const ignored = z.unknown().optional().meta({ readOnly: true }).describe('Accepted and ignored.')

const key = z
  .string()
  .min(1)
  .describe(
    `1 to ${KEY_LENGTH_MAX} letters and digits of any script, emoji, \`-\`, \`_\`, \`.\`, \`~\`, and \`/\` between segments. At most ${KEY_VARIANTS_MAX} keys of a domain may differ only by letter case.`,
  )

export const tagInput = line(TAG_LENGTH_MAX)
export const tagsInput = z.array(tagInput)

const optionalFields = {
  ...fromFields(TEXTS_BEFORE_COUNTERS, requested),
  external_id: z
    .int(EXTERNAL_ID)
    .nullable()
    .optional()
    .describe('Identifier of the link in an external system.'),
  ...fromFields(TEXTS_AFTER_COUNTERS, requested),
  tags: tagsInput
    .nullable()
    .optional()
    .describe(
      `At most ${TAGS_MAX}, each of 1 to ${TAG_LENGTH_MAX} characters; duplicates are dropped.`,
    ),
  ...optionInputs,
}

const readOnlyFields = {
  id: ignored,
  workspace_id: ignored,
  link: ignored,
  clicks: ignored,
  last_click: ignored,
  created_at: ignored,
  updated_at: ignored,
}

const domain = line(2000).describe('The host name, such as `go.example.com`.')
const url = destinationInput.describe(
  'The destination: an absolute http: or https: URL, or an address that begins with mailto:, tel: or sms:.',
)

const EXAMPLE = { domain: 'localhost', url: 'https://example.com/' }

const DESCRIPTION =
  'The other fields of a link are accepted and ignored, so a link can be sent back as it was received.'

export const createLinkBody = z
  .strictObject({
    domain,
    url,
    key: key.nullable().optional().describe('Generated when left out.'),
    ...optionalFields,
    ...readOnlyFields,
  })
  .meta({ id: 'CreateLink', description: DESCRIPTION, examples: [EXAMPLE] })

export const updateLinkBody = z
  .strictObject({
    domain,
    url,
    key: key.nullable().optional().describe('Unchanged when left out; null generates a new key.'),
    ...optionalFields,
    ...readOnlyFields,
  })
  .meta({ id: 'UpdateLink', description: DESCRIPTION, examples: [EXAMPLE] })

export const patchLinkBody = updateLinkBody
  .partial({ domain: true, url: true })
  .meta({ id: 'PatchLink', description: DESCRIPTION, examples: [{ tags: ['spring'] }] })

const LINK_SORTS = [
  '-created_at',
  'created_at',
  '-updated_at',
  'updated_at',
  '-clicks',
  'clicks',
  '-last_click',
  'last_click',
  'key',
  '-key',
] as const

/** Which links a list or an export has. */
export const linkFilters = {
  search: line(SEARCH_LENGTH_MAX)
    .optional()
    .describe(
      'Links whose key, destination or notes, or one of whose tags, contains this text of at most 200 characters, in any letter case; of notes, that goes for ASCII letters. If the text is a short link, of any length, with or without `https://` and a query: also the link with this address.',
    ),
  domain: z
    .preprocess(
      (value) => (typeof value === 'string' ? [value] : value),
      z.array(line(2000)).max(FILTER_DOMAINS_MAX),
    )
    .optional()
    .describe('Links on this domain. If sent several times: links on any of the domains.'),
  key: line(FILTER_KEY_LENGTH_MAX)
    .optional()
    .describe(
      'Links with exactly this key, in this letter case. With `domain`, at most one; found at once, however many links there are.',
    ),
  external_id: queryInteger(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER)
    .optional()
    .describe('Links with this `external_id`.'),
  created_after: instantInput
    .optional()
    .describe(
      'Links created at this instant or later, such as `2026-12-31T23:59:59Z`. ISO 8601 with a zone.',
    ),
  created_before: instantInput
    .optional()
    .describe(
      'Links created before this instant. Consecutive periods that share an end have each link once.',
    ),
  tag: z
    .preprocess(
      (value) => (typeof value === 'string' ? [value] : value),
      z.array(line(TAG_LENGTH_MAX)).max(FILTER_TAGS_MAX),
    )
    .optional()
    .describe('Links with this tag. If sent several times: links with all of the tags.'),
  url: destinationInput
    .optional()
    .describe('Links with exactly this destination, compared with the stored form.'),
  state: z
    .preprocess(
      (value) => (typeof value === 'string' ? [value] : value),
      z
        .array(z.enum(STATES))
        .refine(
          (states) => !(states.includes('active') && states.includes('expired')),
          asMessage({ code: 'incompatible', reason: 'contrary', other: ['active', 'expired'] }),
        ),
    )
    .optional()
    .describe(
      '`expired`: links whose `expires_at` has passed; `active`: all others; `protected`: links with a password. If sent several times: links that are in all of the states, such as active ones with a password.',
    ),
  does: fieldsQuery(LINK_DOES).describe(
    'Links that do all of this, separated by commas, such as `rules,limit`: `rules`: have rules of their own; `splits`: split visitors by one of them; `rule_set`: use a rule set; `limit`: have `max_clicks`; `starts`: have an `active_from` that is to come; `expires`: have `expires_at`; `path`: take more of a path than their key; `query`: replace or drop the query of the destination or of the visitor; `preview`: have a title, description or image of their own; `targets`: have `ios` or `android`; `password`; `notes`.',
  ),
  managed_by: setName
    .optional()
    .describe('Links that the set of links as code with this name manages.'),
  archived: z
    .enum(ARCHIVED)
    .optional()
    .describe(
      '`true`: archived links alone; `false`: those that are not archived; `any`: both. When left out, `false`, or `any` together with `key` or `external_id`.',
    ),
}

export const listLinksQuery = pageQuery.extend({
  ...linkFilters,
  fields: fieldsQuery(linkSchema.keyof().options).describe(
    'The fields of each link, separated by commas, in this order: `id,link`. All when left out.',
  ),
  include,
  sort: z
    .enum(LINK_SORTS)
    .optional()
    .describe(
      'The sort order; a minus sign means descending. `-created_at` when left out. With a cursor, only `-created_at` or `created_at`.',
    ),
})

export const linkDeleted = z
  .object({ message: z.literal('Link deleted') })
  .meta({ id: 'LinkDeleted' })

export type ListLinksQuery = z.output<typeof listLinksQuery>
export type LinkResource = z.output<typeof linkSchema>
export type LinkInclude = (typeof INCLUDES)[number]
export type IncludingLink = z.output<typeof includingLinkSchema>
