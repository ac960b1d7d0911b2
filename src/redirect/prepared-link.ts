import { UTM_FIELDS } from '../domain/links/link.ts'
import type { LinkDirectory, VisitedLink } from '../domain/links/link-directory.ts'
import { formatParameter, withParameters } from './destination-query.ts'

/** A link as the redirect needs it: everything that does not depend on the visit is done. */
export type PreparedLink = {
  readonly seq: number
  readonly key: string
  /** Destinations with the link's UTM values set. */
  readonly url: string
  readonly ios: string | null
  readonly android: string | null
  /** Milliseconds since the epoch; Infinity for never. */
  readonly expiresAtMs: number
  readonly expiredRedirectUrl: string | null
  readonly password: string | null
}

/** All links of a keyspace whose keys differ only by letter case. */
export type LinkGroup = readonly PreparedLink[]

/** What one link takes in memory besides its texts, roughly, in bytes. */
const LINK_BYTES = 400

export async function loadGroup(
  directory: LinkDirectory,
  keyspaceId: number,
  foldedKey: string,
): Promise<LinkGroup | undefined> {
  const links = await directory.findByFoldedKey(keyspaceId, foldedKey)
  return links.length === 0 ? undefined : links.map(prepare)
}

/** As text, for a copy. Another form needs another number of the copy's format. */
export function encodeGroup(group: LinkGroup): string {
  return JSON.stringify(group)
}

export function decodeGroup(text: string): LinkGroup {
  const links: (Omit<PreparedLink, 'expiresAtMs'> & { expiresAtMs: number | null })[] =
    JSON.parse(text)
  // JSON has no infinity, and says null.
  return links.map((link) => ({
    ...link,
    expiresAtMs: link.expiresAtMs ?? Number.POSITIVE_INFINITY,
  }))
}

/** A bound on the memory that a group takes, in bytes. */
export function groupBytes(group: LinkGroup): number {
  let bytes = 0
  for (const link of group) {
    bytes += LINK_BYTES + link.key.length * 2 + link.url.length
    bytes += (link.ios?.length ?? 0) + (link.android?.length ?? 0)
    bytes += (link.expiredRedirectUrl?.length ?? 0) + (link.password?.length ?? 0)
  }
  return bytes
}

/** The link of exactly this key; where there is none, the only one that differs by letter case. */
export function pickLink(group: LinkGroup, key: string): PreparedLink | undefined {
  // Nearly always there is one, and what it is called does not matter.
  return group.length === 1 ? group[0] : group.find((link) => link.key === key)
}

function prepare(link: VisitedLink): PreparedLink {
  const utm = UTM_FIELDS.flatMap((field) => {
    const value = link[field]
    return value === null ? [] : [formatParameter(field, value)]
  })
  const withUtm = (destination: string | null) =>
    destination === null ? null : withParameters(destination, utm)
  return {
    seq: link.seq,
    key: link.key,
    url: withParameters(link.url, utm),
    ios: withUtm(link.ios),
    android: withUtm(link.android),
    expiresAtMs: link.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(link.expires_at),
    expiredRedirectUrl: link.expired_redirect_url,
    password: link.password,
  }
}
