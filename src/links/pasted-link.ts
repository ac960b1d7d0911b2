import type { ServiceName } from '../hosts/index.ts'
import { keyOfPath } from './key.ts'
import { parseLinkHost } from './link-input.ts'
import type { LinkAddress } from './link-query.ts'

const SCHEME = /^https?:\/\//i

/**
 * Parses a short link as a person pastes it: with or without scheme, port, query and fragment; the key
 * percent-encoded or not; the host in Unicode or A-label form. Returns undefined for any other text.
 */
export function parsePastedLink(text: string, service: ServiceName): LinkAddress | undefined {
  const trimmed = text.trim()
  const url = URL.parse(SCHEME.test(trimmed) ? trimmed : `https://${trimmed}`)
  if (url === null || url.username !== '' || url.pathname === '/') return undefined
  const host = parseLinkHost(url.hostname, service)
  const key = keyOfPath(url.pathname)
  return 'fault' in host || key === undefined ? undefined : { host: host.value, key }
}
