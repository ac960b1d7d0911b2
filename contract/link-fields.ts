// Loads no zod: redirects read these lists.

export const UTM_FIELDS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
] as const

/**
 * The parameter of short links that has the label of a visit, in workspaces that have not set one: those from before
 * labels have a row that says that they have none.
 */
export const USUAL_LABEL_PARAMETER = 'via'

/** The parameter of destinations that has the token of a visit, in workspaces that have not set another one. */
export const USUAL_TOKEN_PARAMETER = 'tc'

export type UtmField = (typeof UTM_FIELDS)[number]

/** What an optional text of a link holds; its checks follow from this. An `app_destination` may have an app's scheme. */
export type LinkTextKind = 'destination' | 'app_destination' | 'utm' | 'password' | 'instant'

type LinkTextField = {
  readonly kind: LinkTextKind
  /** Describes the field in answers. */
  readonly answer: string
  /** Describes it in requests, where that says more. */
  readonly request?: string
}

/** The optional texts that stand before a link's counters in answers, in their order. */
const BEFORE_COUNTERS = {
  ios: {
    kind: 'app_destination',
    answer: 'Destination for iPhones and iPads.',
    request: 'Destination for iPhones and iPads; `url` when null.',
  },
  android: {
    kind: 'app_destination',
    answer: 'Destination for Android devices.',
    request: 'Destination for Android devices; `url` when null.',
  },
  ...fromFields(UTM_FIELDS, (name) => ({
    kind: 'utm' as const,
    answer: `Set on the destination as \`${name}\`.`,
  })),
} satisfies Record<string, LinkTextField>

/** Those that stand after the counters. */
const AFTER_COUNTERS = {
  password: {
    kind: 'password',
    answer: 'An opaque sealed string when the link has a password. Never the text.',
    request:
      'The text that visitors must type; or the sealed string as received, to keep the password. The sealed string of another link is refused.',
  },
  expires_at: {
    kind: 'instant',
    answer: 'When the link expires.',
    request: 'An ISO 8601 instant with a zone, such as `2026-12-31T23:59:59+01:00`.',
  },
  expired_redirect_url: {
    kind: 'destination',
    answer: 'Destination after the link has expired.',
    request: 'Destination after the link has expired; the `expired_url` of the domain when null.',
  },
} satisfies Record<string, LinkTextField>

/**
 * Every optional text of a link. Requests and answers, rows, quotas, cached links, events, exports, and records of
 * imports have these fields under these names.
 */
export const LINK_TEXTS: { readonly [F in LinkText]: LinkTextField } = {
  ...BEFORE_COUNTERS,
  ...AFTER_COUNTERS,
}

export const TEXTS_BEFORE_COUNTERS = namesOf(BEFORE_COUNTERS)
export const TEXTS_AFTER_COUNTERS = namesOf(AFTER_COUNTERS)
export const LINK_TEXT_FIELDS = namesOf(LINK_TEXTS)

export type LinkText = keyof typeof BEFORE_COUNTERS | keyof typeof AFTER_COUNTERS

/** What becomes of the visitor's own query: it is added to the destination's, takes its place, or is left out. */
export const QUERY_MODES = ['merge', 'replace', 'drop'] as const

/**
 * What a link does with the path behind its key: nothing, so that only its key alone leads to it; append it to the
 * destination's; or fill the destination's placeholders with it.
 */
export const PATH_MODES = ['none', 'append', 'capture'] as const

/** What a link does besides redirecting, by which lists of links can be filtered. */
export const LINK_DOES = [
  'rules',
  'splits',
  'rule_set',
  'limit',
  'starts',
  'expires',
  'path',
  'query',
  'preview',
  'targets',
  'password',
  'notes',
] as const

export type LinkDoes = (typeof LINK_DOES)[number]

export type PathMode = (typeof PATH_MODES)[number]

export type QueryMode = (typeof QUERY_MODES)[number]

/** What a link has beside the fields of the specification; requests set them like its other fields. */
export type LinkOptions = {
  /** Of people; the link has expired after that many. */
  readonly max_clicks: number | null
  /** Before this instant the link leads nowhere. */
  readonly active_from: string | null
  readonly archived: boolean
  readonly notes: string | null
  readonly path: PathMode
  readonly query: QueryMode
  /** The id of the rule set that is tried after the link's own rules. */
  readonly rule_set: string | null
  /** What messengers and networks show of the link: a title, a text and a picture. */
  readonly title: string | null
  readonly description: string | null
  /** An https URL. */
  readonly image: string | null
  /** Whether its destinations get a token for conversions; null for what its domain and its workspace have. */
  readonly track_conversions: boolean | null
  /** The name of the set of links as code that manages it. */
  readonly managed_by: string | null
  /** Whether deletions are refused. */
  readonly prevent_delete: boolean
}

export const NO_OPTIONS: LinkOptions = Object.freeze({
  max_clicks: null,
  active_from: null,
  archived: false,
  notes: null,
  path: 'none',
  query: 'merge',
  rule_set: null,
  title: null,
  description: null,
  image: null,
  track_conversions: null,
  managed_by: null,
  prevent_delete: false,
})

export const LINK_OPTION_FIELDS = namesOf<keyof LinkOptions>(NO_OPTIONS)

/** The fields whose values the event log has: a password is secret, and examples are large. */
export const LOGGED_LINK_FIELDS = [
  ...(['domain', 'key', 'url', 'external_id', 'tags', 'rules'] as const),
  ...LINK_TEXT_FIELDS.filter((field) => field !== 'password'),
  ...LINK_OPTION_FIELDS,
]

export type LinkTexts = { readonly [F in LinkText]: string | null }

function namesOf<F extends string>(fields: Readonly<Record<F, unknown>>): readonly F[] {
  return Object.keys(fields) as F[]
}

/** Returns an object with a value for each field, in their order. */
export function fromFields<F extends string, T>(
  fields: readonly F[],
  read: (field: F) => T,
): Record<F, T> {
  const values = {} as Record<F, T>
  for (const field of fields) values[field] = read(field)
  return values
}
