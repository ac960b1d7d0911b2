import type { FastifyRequest } from 'fastify'
import { Failure } from '../../platform/failure.ts'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a request that changes something with a cookie, unless the browser reports that a page of the
 * service itself sent it. `same-site` is refused: links' domains may be siblings of the service's host.
 *
 * @throws {Failure} `cross_origin`
 */
export function requireSameOrigin({ method, headers }: FastifyRequest, baseUrl: string): void {
  if (SAFE_METHODS.has(method)) return
  const site = headers['sec-fetch-site']
  const isSame =
    site === undefined ? headers.origin === new URL(baseUrl).origin : site === 'same-origin'
  if (isSame) return
  const { origin } = new URL(baseUrl)
  throw Failure.crossOrigin({ code: 'foreign_page_with_session', address: baseUrl, origin })
}

/**
 * Refuses a request without a session that a page of another origin sent, such as a sign-in with the account
 * of an attacker. Programs that send neither header are no browsers.
 *
 * @throws {Failure} `cross_origin`
 */
export function refuseOtherOrigins({ method, headers }: FastifyRequest, baseUrl: string): void {
  if (SAFE_METHODS.has(method)) return
  const site = headers['sec-fetch-site']
  const isOther =
    site === undefined
      ? headers.origin !== undefined && headers.origin !== new URL(baseUrl).origin
      : site !== 'same-origin' && site !== 'none'
  if (isOther) throw Failure.crossOrigin({ code: 'foreign_page', address: baseUrl })
}
