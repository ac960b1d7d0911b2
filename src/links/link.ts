import type { Example } from '@terse/contract/explain'
import {
  fromFields,
  LINK_OPTION_FIELDS,
  LINK_TEXT_FIELDS,
  type LinkOptions,
  type LinkText,
  type LinkTexts,
  LOGGED_LINK_FIELDS,
  NO_OPTIONS,
  TEXTS_AFTER_COUNTERS,
  TEXTS_BEFORE_COUNTERS,
} from '@terse/contract/link-fields'
import type { LinkOptionsResource } from '@terse/contract/link-options'
import type { IncludingLink, LinkInclude, LinkResource } from '@terse/contract/links'
import type { Rule } from '@terse/contract/rules'
import { formatInstant } from '../platform/time/clock.ts'
import { versionOf } from '../platform/version.ts'
import { changedFields, type EventFields, type NewEvent } from '../storage/event-log.ts'
import { type Managed, presentManagedAt } from '../storage/managed.ts'

/**
 * The fields that a link's owner sets, except `domain` and `key`. API, code and table use the same
 * names, so nothing is mapped.
 */
export type LinkAttributes = LinkTexts &
  LinkOptions & {
    readonly url: string
    readonly external_id: number | null
    readonly tags: readonly string[]
    /** In their order, at least one; null for none. */
    readonly rules: readonly Rule[] | null
    /** Visitors that are tried before it changes, at least one; null for none. */
    readonly examples: readonly Example[] | null
  }

export type Link = LinkAttributes &
  Managed & {
    /** The link's number within the instance: ascending, never assigned twice. */
    readonly seq: number
    readonly id: string
    readonly workspace_id: string
    readonly keyspace_id: number
    readonly domain: string
    readonly key: string
    readonly clicks: number
    /** Microseconds since the epoch. */
    readonly last_click: number | null
    /** Microseconds since the epoch. */
    readonly created_at: number
    /** Microseconds since the epoch; rises with every update. */
    readonly updated_at: number
  }

/** A link without its click counters. */
export type UncountedLink = Omit<Link, 'clicks' | 'last_click'>

/** A link that the store has not numbered yet. */
export type NewLink = Omit<UncountedLink, 'seq'>

/**
 * Identifies the state of everything that a write can change, for `If-Match`. It excludes the counters:
 * an update must not fail because the link was clicked. It includes the host, which changes without
 * `updated_at` when the domain is renamed.
 */
export function linkVersion({
  id,
  updated_at,
  domain,
}: Pick<Link, 'id' | 'updated_at' | 'domain'>): string {
  return versionOf(id, updated_at, domain)
}

export const NO_ATTRIBUTES: Omit<LinkAttributes, 'url'> = Object.freeze({
  ...fromFields(LINK_TEXT_FIELDS, () => null),
  ...NO_OPTIONS,
  external_id: null,
  tags: [],
  rules: null,
  examples: null,
})

/** The query parameter in the short link of a tracked QR code, which marks its visits. */
export const QR_MARK = 'qr=1'

/** Whether a raw query contains the mark as a parameter. */
export function hasQrMark(query: string): boolean {
  return query !== '' && query.split('&').includes(QR_MARK)
}

/** Returns the raw query without the mark; every other byte is unchanged. */
export function withoutQrMark(query: string): string {
  if (!query.includes(QR_MARK)) return query
  return query
    .split('&')
    .filter((parameter) => parameter !== QR_MARK)
    .join('&')
}

/** A QR code of error correction level M holds at most 2,331 bytes (ISO/IEC 18004). */
const QR_BYTES_MAX = 2_331

/** Returns the short link that people share. */
export function shortLink(link: Pick<Link, 'domain' | 'key'>): string {
  return `https://${link.domain}/${link.key}`
}

/**
 * Returns an address for a QR code: percent-encoded, because not every scanner reads UTF-8, unless the encoded form, up
 * to three times as long, exceeds the capacity of a code.
 *
 * @param tracked whether to add the mark that gives these visits the source `qr`
 */
export function scannableAddress(address: string, tracked: boolean): string {
  const marked = tracked ? `${address}?${QR_MARK}` : address
  const encoded = encodeURI(marked)
  return encoded.length <= QR_BYTES_MAX ? encoded : marked
}

const STORED_TEXTS = [
  ...(['key', 'url', 'notes', 'title', 'description', 'image'] as const),
  ...LINK_TEXT_FIELDS,
] as const

/** Returns the bytes that a link's texts add to the storage quota of its workspace. */
export function storedBytes(
  link: Pick<NewLink, (typeof STORED_TEXTS)[number] | 'tags' | 'rules' | 'examples'>,
): number {
  let bytes = Buffer.byteLength(JSON.stringify(link.tags))
  if (link.rules !== null) bytes += Buffer.byteLength(JSON.stringify(link.rules))
  if (link.examples !== null) bytes += Buffer.byteLength(JSON.stringify(link.examples))
  for (const name of STORED_TEXTS) {
    const text = link[name]
    if (text !== null) bytes += Buffer.byteLength(text)
  }
  return bytes
}

/** Binds a sealed password to its link, whatever becomes of the link's key and domain. */
export function boundToLink(linkId: string): string {
  return `link ${linkId}`
}

/** Returns the API's form of a link, with the fields in the order of the specification. */
export function presentLink(link: Link): LinkResource {
  const text = (field: LinkText) => link[field]
  return {
    id: link.id,
    workspace_id: link.workspace_id,
    domain: link.domain,
    key: link.key,
    url: link.url,
    link: shortLink(link),
    ...fromFields(TEXTS_BEFORE_COUNTERS, text),
    clicks: link.clicks,
    last_click: link.last_click === null ? null : Math.floor(link.last_click / 1_000_000),
    external_id: link.external_id,
    ...fromFields(TEXTS_AFTER_COUNTERS, text),
    tags: [...link.tags],
    created_at: formatInstant(link.created_at),
    updated_at: formatInstant(link.updated_at),
  }
}

/** Returns the options of a link as they were set. */
export function optionsOf(link: LinkOptions): LinkOptions {
  return fromFields<keyof LinkOptions, unknown>(
    LINK_OPTION_FIELDS,
    (field) => link[field],
  ) as LinkOptions
}

/** Returns what a link has beside its fields. */
export function presentOptions(
  link: LinkOptions & Pick<Link, 'clicks' | 'managed_at'>,
): LinkOptionsResource {
  const { max_clicks, prevent_delete, ...options } = optionsOf(link)
  // What processes hold of the limit, and what is not counted yet, would be more reads for each link of a list.
  const clicks_left = max_clicks === null ? null : Math.max(0, max_clicks - link.clicks)
  const managed_at = presentManagedAt(link)
  return { max_clicks, clicks_left, ...options, managed_at, prevent_delete }
}

/** Returns a link with what a request names beside its fields. */
export function presentIncluding(link: Link, include: readonly LinkInclude[] = []): IncludingLink {
  const rules = link.rules ?? []
  return {
    ...presentLink(link),
    ...(include.includes('options') && {
      options: presentOptions(link),
      rule_count: rules.length,
      split_count: rules.filter(({ then }) => 'split' in then).length,
    }),
    ...(include.includes('rules') && { rules: [...rules] }),
  }
}

/** Returns the response to a create of this link, in which the specification has `clicks: null`. */
export function asCreated(link: LinkResource): LinkResource {
  return { ...link, clicks: null }
}

type LoggedLink = Pick<UncountedLink, 'id' | 'domain' | 'key'> & LinkAttributes

/** Stands in for a new password: the log never contains passwords, sealed ones included. */
const PASSWORD_CHANGED = { password: 'changed' }
/** Stands in for examples, which may be large, and change nothing for visitors. */
const EXAMPLES_CHANGED = { examples: 'changed' }

export function linkCreated(link: LoggedLink): NewEvent {
  const after = ownFields(link)
  if (link.password !== null) Object.assign(after, PASSWORD_CHANGED)
  if (link.examples !== null) Object.assign(after, EXAMPLES_CHANGED)
  return { type: 'link.created', subjectId: link.id, before: null, after }
}

export function linkUpdated(from: LoggedLink, to: LoggedLink): NewEvent {
  const { before, after } = changedFields(fieldsOf(from), fieldsOf(to))
  return {
    type: 'link.updated',
    subjectId: to.id,
    before,
    after: {
      ...after,
      ...(from.password === to.password ? {} : PASSWORD_CHANGED),
      ...(visitorsOf(from) === visitorsOf(to) ? {} : EXAMPLES_CHANGED),
    },
  }
}

/** Without results, which change with the link. */
function visitorsOf({ examples }: LoggedLink): string {
  return JSON.stringify(examples?.map(({ name, visitor }) => [name, visitor]) ?? [])
}

export function linkDeleted(link: LoggedLink): NewEvent {
  const before = ownFields(link)
  return { type: 'link.deleted', subjectId: link.id, before, after: null }
}

const DEFAULTS: Readonly<Record<string, unknown>> = NO_OPTIONS

/** The fields in which it differs from a link that has only a destination. */
function ownFields(link: LoggedLink): Record<string, unknown> {
  const own: Record<string, unknown> = {}
  // In one pass, since every create of a link comes here.
  for (const field of LOGGED_LINK_FIELDS) {
    const value = link[field]
    if (value !== null && value !== DEFAULTS[field]) own[field] = value
  }
  return own
}

function fieldsOf(link: LoggedLink): EventFields {
  return fromFields<keyof LoggedLink, unknown>(LOGGED_LINK_FIELDS, (field) => link[field])
}
