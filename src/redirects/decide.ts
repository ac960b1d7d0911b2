import type { Device } from '../clicks/index.ts'
import { type LinkHost, withoutQrMark } from '../links/index.ts'
import { parseQuery, withParameters } from './destination-query.ts'
import type { LinkPassword, PreparedLink } from './prepared-link.ts'

/** Everything on which the answer to a visit depends. */
export type Visit = {
  /** Undefined for a host that is unknown or pending. */
  readonly host: LinkHost | undefined
  readonly isRoot: boolean
  /** Undefined where there is no such key. */
  readonly link: PreparedLink | undefined
  readonly device: Device
  /** The visitor's own query, as sent. */
  readonly query: string
  /** Whether the visitor has proved knowledge of the link's password. */
  readonly knowsPassword: boolean
}

export type Decision =
  | { readonly kind: 'unknown-host' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'expired'; readonly expiredAtMs: number }
  /** Following the redirects would come back to the same link: see `LoopDetector`. */
  | { readonly kind: 'loop' }
  /** The destination that the domain or the expired link sets for such visits. */
  | { readonly kind: 'fallback'; readonly location: string }
  | { readonly kind: 'ask-password'; readonly link: PreparedLink; readonly password: LinkPassword }
  | { readonly kind: 'redirect'; readonly link: PreparedLink; readonly location: string }

/** Decides what a visitor gets. The order of the checks is part of the specification of redirects. */
export function decide(visit: Visit, nowMs: number): Decision {
  const { host, link } = visit
  if (host === undefined) return { kind: 'unknown-host' }
  if (visit.isRoot || link === undefined) return fallback(host.notFoundUrl, { kind: 'not-found' })
  if (link.expiresAtMs <= nowMs) {
    const location = link.expiredRedirectUrl ?? host.expiredUrl
    return fallback(location, { kind: 'expired', expiredAtMs: link.expiresAtMs })
  }
  if (link.password !== null && !visit.knowsPassword) {
    return { kind: 'ask-password', link, password: link.password }
  }
  const destination = destinationFor(link, visit.device)
  const query = withoutQrMark(visit.query)
  const location = query === '' ? destination : withParameters(destination, parseQuery(query))
  return { kind: 'redirect', link, location }
}

function fallback(location: string | null, otherwise: Decision): Decision {
  return location === null ? otherwise : { kind: 'fallback', location }
}

function destinationFor(link: PreparedLink, device: Device): string {
  if (device === 'ios' && link.ios !== null) return link.ios
  if (device === 'android' && link.android !== null) return link.android
  return link.url
}
