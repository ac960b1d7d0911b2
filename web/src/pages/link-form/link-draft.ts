import {
  NO_OPTIONS,
  type PathMode,
  type QueryMode,
  UTM_FIELDS,
  type UtmField,
} from '@terse/contract/link-fields'
import { type DetailedLink, destinationOf, type LinkFields } from '../../api/links.ts'

const TEXT_FIELDS = ['ios', 'android', ...UTM_FIELDS, 'expired_redirect_url'] as const

const SHARED_FIELDS = ['title', 'description', 'image'] as const

/** What the fields of the form hold: text as it was typed. */
export type LinkDraft = {
  readonly url: string
  readonly domain: string
  readonly key: string
  readonly tags: readonly string[]
  readonly ios: string
  readonly android: string
  readonly utm_source: string
  readonly utm_medium: string
  readonly utm_campaign: string
  readonly utm_term: string
  readonly utm_content: string
  readonly utm_name: string
  /** A new password; empty leaves the link as it is. */
  readonly password: string
  readonly removesPassword: boolean
  /** A copy of a protected link: it needs a password of its own, or the word that it is to have none. */
  readonly asksPassword: boolean
  /** As a `datetime-local` input has it, in the time zone of the browser; empty for none. */
  readonly expires: string
  readonly expired_redirect_url: string
  /** As `expires`; empty for a link that leads somewhere at once. */
  readonly starts: string
  readonly max_clicks: string
  readonly path: PathMode
  readonly query: QueryMode
  /** Whether destinations get a token for conversions; empty for what the domain has. */
  readonly track_conversions: Tracking
  readonly notes: string
  /** What messengers and networks show of the link. */
  readonly title: string
  readonly description: string
  readonly image: string
  readonly external_id: string
  /** Whether deletions are refused. */
  readonly prevent_delete: boolean
}

export const TRACKINGS = ['', 'on', 'off'] as const
export type Tracking = (typeof TRACKINGS)[number]

export function emptyDraft(domain: string): LinkDraft {
  return {
    url: '',
    domain,
    key: '',
    tags: [],
    ios: '',
    android: '',
    utm_source: '',
    utm_medium: '',
    utm_campaign: '',
    utm_term: '',
    utm_content: '',
    utm_name: '',
    password: '',
    removesPassword: false,
    asksPassword: false,
    expires: '',
    expired_redirect_url: '',
    starts: '',
    max_clicks: '',
    path: NO_OPTIONS.path,
    query: NO_OPTIONS.query,
    track_conversions: '',
    notes: '',
    title: '',
    description: '',
    image: '',
    external_id: '',
    prevent_delete: false,
  }
}

export function draftOf(link: DetailedLink): LinkDraft {
  const { active_from, max_clicks, path, query, notes, title, description, image } = link.options
  const texts = Object.fromEntries(TEXT_FIELDS.map((name) => [name, link[name] ?? '']))
  return {
    ...emptyDraft(link.domain),
    ...texts,
    url: link.url,
    key: link.key,
    tags: link.tags,
    expires: minuteOf(link.expires_at),
    starts: minuteOf(active_from),
    max_clicks: max_clicks === null ? '' : String(max_clicks),
    path,
    query,
    track_conversions: trackingOf(link.options.track_conversions),
    notes: notes ?? '',
    title: title ?? '',
    description: description ?? '',
    image: image ?? '',
    external_id: link.external_id === null ? '' : String(link.external_id),
    prevent_delete: link.options.prevent_delete,
  }
}

export function trackingOf(tracks: boolean | null): Tracking {
  if (tracks === null) return ''
  return tracks ? 'on' : 'off'
}

export function tracksOf(tracking: Tracking): boolean | null {
  return tracking === '' ? null : tracking === 'on'
}

/** A new link like this one: without what belongs to it alone. The API does not know the text of its password. */
export function copyOf(link: DetailedLink): LinkDraft {
  const own = { key: '', external_id: '', notes: '', prevent_delete: false }
  return { ...draftOf(link), ...own, asksPassword: link.password !== null }
}

type DraftFault =
  | 'invalidUrl'
  | 'invalidExternalId'
  | 'passwordOfCopy'
  | 'invalidMaxClicks'
  | 'endsFirst'

/** What is wrong with a draft, as names of texts, by the fields of the API. Such a draft is not sent. */
export function faultsOf(draft: LinkDraft): Readonly<Record<string, DraftFault>> {
  return {
    ...(destinationOf(draft.url) === undefined && { url: 'invalidUrl' }),
    ...(Number.isNaN(externalIdOf(draft)) && { external_id: 'invalidExternalId' }),
    ...(Number.isNaN(maxClicksOf(draft)) && { max_clicks: 'invalidMaxClicks' }),
    ...(draft.starts !== '' &&
      draft.expires !== '' &&
      draft.starts >= draft.expires && { active_from: 'endsFirst' }),
    ...(draft.asksPassword && draft.password === '' && { password: 'passwordOfCopy' }),
  }
}

/** NaN for what is no number of another system; undefined for none. */
function externalIdOf({ external_id }: LinkDraft): number | undefined {
  const text = external_id.trim()
  if (text === '') return undefined
  const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : Number.NaN
}

const MAX_CLICKS_MAX = 1_000_000_000

/** NaN for what is no number of clicks; null for any number of them. */
function maxClicksOf({ max_clicks }: LinkDraft): number | null {
  const text = max_clicks.trim()
  if (text === '') return null
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return number >= 1 && number <= MAX_CLICKS_MAX ? number : Number.NaN
}

/** The field of the API that a field of the form belongs to. */
export function apiFieldOf(name: string): string {
  if (name === 'expires') return 'expires_at'
  if (name === 'starts') return 'active_from'
  if (name === 'removesPassword' || name === 'asksPassword') return 'password'
  return name
}

/**
 * What is sent: the fields that differ from those of the link, which is undefined for a new one. So a
 * change by another person to another field is kept.
 */
export function fieldsOf(draft: LinkDraft, link: DetailedLink | undefined): LinkFields {
  const before = link === undefined ? emptyDraft('') : draftOf(link)
  const fields: Record<string, unknown> = {}
  for (const name of TEXT_FIELDS) {
    if (draft[name].trim() !== before[name]) fields[name] = draft[name].trim() || null
  }
  if (draft.url !== before.url) fields['url'] = destinationOf(draft.url) ?? draft.url
  if (draft.domain !== before.domain) fields['domain'] = draft.domain
  if (draft.key.trim() !== before.key) fields['key'] = draft.key.trim() || null
  if (draft.tags.join('\n') !== before.tags.join('\n')) fields['tags'] = draft.tags
  if (draft.expires !== before.expires) {
    fields['expires_at'] = instantOf(draft.expires)
  }
  if (draft.starts !== before.starts) fields['active_from'] = instantOf(draft.starts)
  if (draft.max_clicks.trim() !== before.max_clicks) fields['max_clicks'] = maxClicksOf(draft)
  if (draft.path !== before.path) fields['path'] = draft.path
  if (draft.query !== before.query) fields['query'] = draft.query
  if (draft.track_conversions !== before.track_conversions) {
    fields['track_conversions'] = tracksOf(draft.track_conversions)
  }
  if (draft.notes.trim() !== before.notes.trim()) fields['notes'] = draft.notes.trim() || null
  for (const name of SHARED_FIELDS) {
    // Each is one line.
    const text = draft[name].trim().replace(/\s+/g, ' ')
    if (text !== before[name]) fields[name] = text || null
  }
  if (draft.external_id.trim() !== before.external_id) {
    const id = externalIdOf(draft) ?? null
    // In JSON, NaN would be null, which clears the field.
    fields['external_id'] = Number.isNaN(id) ? draft.external_id : id
  }
  if (draft.prevent_delete !== before.prevent_delete) {
    fields['prevent_delete'] = draft.prevent_delete
  }
  if (draft.password !== '') fields['password'] = draft.password
  else if (draft.removesPassword) fields['password'] = null
  return fields
}

function minuteOf(instant: string | null): string {
  return instant === null ? '' : localMinute(new Date(instant))
}

function instantOf(minute: string): string | null {
  return minute === '' ? null : new Date(minute).toISOString()
}

/** `2026-12-31T23:59`, in the time zone of the browser. */
export function localMinute(instant: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const { date, time } = {
    date: [instant.getFullYear(), two(instant.getMonth() + 1), two(instant.getDate())].join('-'),
    time: [two(instant.getHours()), two(instant.getMinutes())].join(':'),
  }
  return `${date}T${time}`
}

type FinalUrl = {
  /** Destination without a fragment, and without the parameters that the link sets. */
  readonly base: string
  readonly parameters: readonly { readonly field: UtmField; readonly text: string }[]
  readonly fragment: string
  readonly whole: string
}

/** The address that a visitor without parameters of their own is sent to, in parts. */
export function finalUrlOf(draft: LinkDraft): FinalUrl | undefined {
  const destination = destinationOf(draft.url)
  if (destination === undefined) return undefined
  const url = new URL(destination)
  const fragment = url.hash
  url.hash = ''
  // An address of a person gets no parameters.
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  const set = UTM_FIELDS.filter((field) => isWeb && draft[field].trim() !== '')
  for (const field of set) url.searchParams.delete(field)
  const base = withPlaceholders(url.href)
  const parameters = set.map((field) => {
    const text = new URLSearchParams([[field, draft[field].trim()]]).toString()
    return { field, text }
  })
  const joint = url.search === '' ? '?' : '&'
  const added = parameters.map(({ text }) => text).join('&')
  return { base, parameters, fragment, whole: base + (added && joint + added) + fragment }
}

/** A key with placeholders, such as `p/{id}`, always fills those of the destination. */
export function capturesAlways({ key }: Pick<LinkDraft, 'key'>): boolean {
  return key.includes('{')
}

/** Placeholders such as `{1}` as they were typed: a URL has them percent-encoded. */
function withPlaceholders(address: string): string {
  return address.replace(/%7B(\w+)%7D/gi, '{$1}')
}

/** What every part of the form gets. */
export type FormState = {
  readonly draft: LinkDraft
  /** As it was loaded; undefined for a new link. */
  readonly link: DetailedLink | undefined
  /** By the names of the API's fields. */
  readonly errors: Readonly<Record<string, readonly string[]>>
  change(change: Partial<LinkDraft>): void
}
