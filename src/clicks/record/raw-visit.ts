import { memoize } from '../../platform/cache/memoize.ts'

/** The input of a click: a visit with its header values as sent. */
export type RawVisit = {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The client's address, resolved through trusted proxies. */
  readonly address: string
  /** Whether `address` belongs to a proxy that is not trusted or that sent no client address. */
  readonly isForwarded: boolean
  /** Without the question mark. */
  readonly query: string
  readonly userAgent: string | undefined
  readonly referer: string | undefined
  readonly acceptLanguage: string | undefined
  readonly secPurpose: string | undefined
  readonly purpose: string | undefined
  readonly xPurpose: string | undefined
  readonly xMoz: string | undefined
}

/** The limit of a host name (RFC 1035). */
const HOST_LENGTH_MAX = 253
/** Includes room for scheme, user and port around the host; no browser sends more. */
const READ_LENGTH_MAX = 512

/** For links followed in an app, Android browsers send the app's package name in place of a host. */
const SCHEME = /^(?:https?|android-app):\/\//i
const AUTHORITY_END = /[/?#\\]/
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]{2,45}\])$/

/**
 * Returns the host of a `Referer` header in lower case; '' if it has none. Browsers send international names in
 * ASCII form, so other characters are rejected. Runs in linear time; `new URL` would cost more than the
 * rest of a click.
 */
export function referrerHost(referer: string | undefined): string {
  return referer === undefined ? '' : hostOf(referer)
}

/** Cached: browsers send only the origin to other sites, so few distinct referrers occur. */
const hostOf = memoize(readHost, { countMax: 4096, lengthMax: 128 })

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

/** Languages have subtags of two or three letters (RFC 5646, section 2.2.1). */
const FIRST_LANGUAGE = /^[ \t]{0,8}([a-z]{2,3})(?:[-,; \t]|$)/i

/** Returns the primary subtag of the first language of an `Accept-Language` header; '' if none. */
export function firstLanguage(acceptLanguage: string | undefined): string {
  return acceptLanguage === undefined ? '' : languageOf(acceptLanguage)
}

const languageOf = memoize((header) => FIRST_LANGUAGE.exec(header)?.[1]?.toLowerCase() ?? '', {
  countMax: 4096,
  lengthMax: 128,
})

/** Whether a browser marks the request as a prefetch. */
export function isPrefetch(visit: RawVisit): boolean {
  const purpose = visit.secPurpose ?? visit.purpose ?? visit.xPurpose
  return (
    (purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)) ||
    visit.xMoz === 'prefetch'
  )
}
