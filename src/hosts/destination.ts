import type { Parsed } from '../platform/failure.ts'
import type { ServiceHost } from './service-host.ts'

/** In characters of the stored form. */
const DESTINATION_LENGTH_MAX = 8192

/** The machine's own addresses, in the forms in which the URL Standard writes them. */
const LOOPBACK =
  /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]+|0:0)\])$/

/** Schemes that run code in, or read from, the visitor's own machine. No operator can allow them. */
const FORBIDDEN_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about'])

/**
 * A destination in the form that is stored: the URL Standard's serialization, which is ASCII, so that
 * no header that carries it can be split.
 *
 * @param appSchemes what is allowed besides http and https, without the colon
 */
export function parseDestination(text: string, appSchemes: readonly string[] = []): Parsed<string> {
  const url = URL.parse(text)
  if (url === null) return { fault: 'must be an absolute URL such as https://example.com/page' }
  const scheme = url.protocol.slice(0, -1)
  const isWeb = scheme === 'http' || scheme === 'https'
  if (!isWeb && (FORBIDDEN_SCHEMES.has(scheme) || !appSchemes.includes(scheme))) {
    return { fault: `must begin with ${['http', 'https', ...appSchemes].join(':, ')}:` }
  }
  if (url.username !== '' || url.password !== '') {
    return { fault: 'must not hold a user name or password' }
  }
  if (url.href.length > DESTINATION_LENGTH_MAX) {
    return { fault: `must have at most ${DESTINATION_LENGTH_MAX} characters` }
  }
  return { value: url.href }
}

/**
 * The host of a web destination that one of our ports would answer; undefined where none would. The
 * machine's own addresses are the service's host by another name.
 */
export function hostThatCouldLoop(
  destination: string,
  service: Pick<ServiceHost, 'host' | 'ports'>,
): string | undefined {
  const url = new URL(destination)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  if (!service.ports.has(port)) return undefined
  return LOOPBACK.test(url.hostname) ? service.host : url.hostname.replace(/\.$/, '')
}
