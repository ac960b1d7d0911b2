import type { IncomingHttpHeaders } from 'node:http'
import { isIpAddress } from '../network/ip-address.ts'

/** The host, path and query of an HTTP request. */
export type RequestTarget = {
  /** Lower-case, without port or final dot; an IPv6 address keeps its brackets. */
  readonly host: string
  /** As sent, percent-encoded, with its leading slash. */
  readonly path: string
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string
}

/** The limit of a host name (RFC 1035); an address in brackets is shorter. */
const HOST_LENGTH_MAX = 253
const PORT = /:\d{0,5}$/
const HOST = /^(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])$/

/**
 * Returns the target of a request, or undefined for a request that must be refused with 400: no host or
 * several, an invalid host, a target that is neither a path nor an absolute http URL. The host of an
 * absolute target takes precedence over `Host` (RFC 9112, section 3.2.2).
 *
 * @param target the second word of the request line
 * @param rawHeaders alternating names and values, as sent
 */
export function parseRequestTarget(
  target: string,
  rawHeaders: readonly string[],
): RequestTarget | undefined {
  let hostHeader: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue
    if (hostHeader !== undefined) return undefined
    hostHeader = rawHeaders[index + 1]
  }
  if (hostHeader === undefined) return undefined
  let host = parseHost(hostHeader)
  let rest = target
  if (!target.startsWith('/')) {
    const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target)
    if (absolute === null) return undefined
    host = parseHost(absolute[1] ?? '')
    rest = absolute[2]?.startsWith('/') ? absolute[2] : `/${absolute[2] ?? ''}`
  }
  return host === undefined ? undefined : splitTarget(host, rest)
}

/**
 * Splits a target in origin form: a path, optionally with a query.
 *
 * @param host as returned by `parseHost`
 */
export function splitTarget(host: string, target: string): RequestTarget {
  const fragment = target.indexOf('#')
  const rest = fragment === -1 ? target : target.slice(0, fragment)
  const mark = rest.indexOf('?')
  return mark === -1
    ? { host, path: rest, query: '' }
    : { host, path: rest.slice(0, mark), query: rest.slice(mark + 1) }
}

/** Returns the host of a `Host` header (RFC 9110, section 7.2); undefined when it is not valid. */
export function parseHost(header: string): string | undefined {
  const host = header.toLowerCase().replace(PORT, '').replace(/\.$/, '')
  return host.length <= HOST_LENGTH_MAX && HOST.test(host) ? host : undefined
}

/**
 * Whether a request's host belongs to the service itself: the host of its base URL, and any IP address,
 * because no workspace can claim one and monitors use it.
 */
export function isServiceHost(host: string, serviceHost: string): boolean {
  return host === serviceHost || isIpAddress(host) || host.startsWith('[')
}

/**
 * The headers on which the answer to a visit, or its click, may depend. The fast path reads only these, so
 * a rule that needs another header adds it here.
 */
export const VISIT_HEADERS = [
  'cookie',
  'user-agent',
  'referer',
  'accept-language',
  'sec-purpose',
  'purpose',
  'x-purpose',
  'x-moz',
  'x-forwarded-for',
  'x-forwarded-proto',
] as const

export type VisitHeader = (typeof VISIT_HEADERS)[number]

/** Every key is required, so that a header that was not read cannot pass for one that was not sent. */
export type VisitHeaders = { readonly [Name in VisitHeader]: string | undefined }

export function visitHeadersOf(headers: IncomingHttpHeaders): VisitHeaders {
  return {
    cookie: headers.cookie,
    'user-agent': headers['user-agent'],
    referer: headers.referer,
    'accept-language': headers['accept-language'],
    'sec-purpose': textOf(headers['sec-purpose']),
    purpose: textOf(headers.purpose),
    'x-purpose': textOf(headers['x-purpose']),
    'x-moz': textOf(headers['x-moz']),
    'x-forwarded-for': textOf(headers['x-forwarded-for']),
    'x-forwarded-proto': textOf(headers['x-forwarded-proto']),
  }
}

/** Node's types allow an array, although Node joins all repeated headers except `Set-Cookie`. */
function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
