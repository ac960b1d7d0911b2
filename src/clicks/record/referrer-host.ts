import { memoized } from '../../platform/cache/memoized.ts'

/** A host name's limit (RFC 1035). */
const HOST_LENGTH_MAX = 253
/** The scheme, a user and a port may stand around the host; what is longer is no browser's. */
const READ_LENGTH_MAX = 512

/** Android's browsers name an app that a link was followed in by its package, in the host's place. */
const SCHEME = /^(?:https?|android-app):\/\//i
const AUTHORITY_END = /[/?#\\]/
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]{2,45}\])$/

/**
 * The host of a `Referer` header, in lower case; '' where there is none. Browsers send international
 * names in their ASCII form, so whatever else a host is made of is no browser's. Linear in what it
 * reads: `new URL` would cost more than all the rest of a click.
 */
export function referrerHost(referer: string | undefined): string {
  return referer === undefined ? '' : hostOf(referer)
}

/** Most referrers are a bare origin, which is all that browsers tell another site, and few at that. */
const hostOf = memoized(readHost, { countMax: 4096, lengthMax: 128 })

function readHost(referer: string): string {
  const text = referer.length > READ_LENGTH_MAX ? referer.slice(0, READ_LENGTH_MAX) : referer
  const scheme = SCHEME.exec(text)
  if (scheme === null) return ''
  const rest = text.slice(scheme[0].length)
  const end = rest.search(AUTHORITY_END)
  const authority = end === -1 ? rest : rest.slice(0, end)
  const host = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d{0,5}$/, '')
    .replace(/\.$/, '')
    .toLowerCase()
  return host.length <= HOST_LENGTH_MAX && HOST.test(host) ? host : ''
}
