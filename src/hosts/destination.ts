import type { Parsed } from '../platform/failure.ts'
import type { ServiceHost } from './claimable-hosts.ts'

/** The maximum length of the stored form, in characters. */
const DESTINATION_LENGTH_MAX = 8192

/** Loopback and unspecified addresses, as the URL Standard serializes them. */
const LOOPBACK =
  /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]+|0:0)\])$/

/** Addresses of people, which a phone or a mail program opens. */
const CONTACT_SCHEMES = ['mailto', 'tel', 'sms']

/** Schemes that run code on, or read from, the visitor's machine. Operators cannot allow them. */
const FORBIDDEN_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about'])

/**
 * Parses a destination into its stored form: the URL Standard's serialization, which is ASCII, so
 * that it cannot split a response header.
 *
 * @param appSchemes schemes allowed besides those of the web and of people's addresses, without the colon
 */
export function parseDestination(text: string, appSchemes: readonly string[] = []): Parsed<string> {
  const url = URL.parse(text)
  if (url === null) return { fault: { code: 'invalid_url' } }
  const scheme = url.protocol.slice(0, -1)
  const allowed = ['http', 'https', ...CONTACT_SCHEMES, ...appSchemes]
  if (FORBIDDEN_SCHEMES.has(scheme) || !allowed.includes(scheme)) {
    return { fault: { code: 'wrong_scheme', allowed: allowed.map((each) => `${each}:`) } }
  }
  if (CONTACT_SCHEMES.includes(scheme) && url.pathname === '') {
    return { fault: { code: 'missing_address', scheme } }
  }
  if (url.username !== '' || url.password !== '') {
    return { fault: { code: 'url_with_credentials' } }
  }
  if (url.href.length > DESTINATION_LENGTH_MAX) {
    return { fault: { code: 'too_long', max: DESTINATION_LENGTH_MAX } }
  }
  return { value: url.href }
}

/**
 * Returns the host of a web destination whose port is one of the service's ports, otherwise
 * undefined. Loopback addresses count as the service's own host. Called at each visit, so it parses
 * no URL.
 *
 * @param destination in its stored form
 */
export function hostThatCouldLoop(
  destination: string,
  service: Pick<ServiceHost, 'host' | 'ports'>,
): string | undefined {
  const isSecure = destination.startsWith('https://')
  if (!isSecure && !destination.startsWith('http://')) return undefined
  const start = isSecure ? 'https://'.length : 'http://'.length
  const authority = destination.slice(start, destination.indexOf('/', start))
  const colon = authority.lastIndexOf(':')
  const hasPort = colon > authority.lastIndexOf(']')
  const port = hasPort ? Number(authority.slice(colon + 1)) : isSecure ? 443 : 80
  if (!service.ports.has(port)) return undefined
  const host = hasPort ? authority.slice(0, colon) : authority
  if (LOOPBACK.test(host)) return service.host
  return host.endsWith('.') ? host.slice(0, -1) : host
}
