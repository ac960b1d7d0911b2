/** What an HTTP request asks for. */
export type RequestTarget = {
  /** Lower-case, without port or final dot; an IPv6 address keeps its brackets. */
  readonly host: string
  /** As sent, percent-encoded, beginning with a slash. */
  readonly path: string
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string
}

/** A host name's limit (RFC 1035); an address in brackets is shorter. */
const HOST_LENGTH_MAX = 253
const PORT = /:\d{0,5}$/
const HOST = /^(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])$/

/**
 * The target of a request, or undefined for one that must be refused with 400: no host or several,
 * a host that is none, a target that is neither a path nor an absolute http address. An absolute
 * target's host counts, whatever `Host` says (RFC 9112, section 3.2.2).
 *
 * @param target the request line's second word
 * @param rawHeaders names and values in turn, as sent
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
 * The parts of a target in origin form: a path, and maybe a query.
 *
 * @param host as `parseHost` gives it
 */
export function splitTarget(host: string, target: string): RequestTarget {
  const fragment = target.indexOf('#')
  const rest = fragment === -1 ? target : target.slice(0, fragment)
  const mark = rest.indexOf('?')
  return mark === -1
    ? { host, path: rest, query: '' }
    : { host, path: rest.slice(0, mark), query: rest.slice(mark + 1) }
}

/** The host of a `Host` header (RFC 9110, section 7.2); undefined for what is not a host. */
export function parseHost(header: string): string | undefined {
  const host = header.toLowerCase().replace(PORT, '').replace(/\.$/, '')
  return host.length <= HOST_LENGTH_MAX && HOST.test(host) ? host : undefined
}
