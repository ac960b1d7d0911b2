import { versionOf } from '../platform/version.ts'

/**
 * The fields that a link's owner sets, except `domain` and `key`. API, code and table use the same
 * names, so nothing is mapped.
 */
export type LinkAttributes = {
  readonly url: string
  readonly ios: string | null
  readonly android: string | null
  readonly utm_source: string | null
  readonly utm_medium: string | null
  readonly utm_campaign: string | null
  readonly utm_term: string | null
  readonly utm_content: string | null
  readonly utm_name: string | null
  readonly external_id: number | null
  /** The form that `PasswordVault.seal` returns. */
  readonly password: string | null
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ` */
  readonly expires_at: string | null
  readonly expired_redirect_url: string | null
  readonly tags: readonly string[]
}

export type Link = LinkAttributes & {
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

export const UTM_FIELDS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
] as const

export type UtmField = (typeof UTM_FIELDS)[number]

export const NO_ATTRIBUTES: Omit<LinkAttributes, 'url'> = Object.freeze({
  ios: null,
  android: null,
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  utm_name: null,
  external_id: null,
  password: null,
  expires_at: null,
  expired_redirect_url: null,
  tags: [],
})
