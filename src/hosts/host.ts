import { domainToASCII, domainToUnicode } from 'node:url'
import { getPublicSuffix } from 'tldts'
import type { Parsed } from '../platform/failure.ts'
import { isIpAddress } from '../platform/network/ip-address.ts'

const HOST_LENGTH_MAX = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/**
 * ASCII that is not allowed in a host name, and that the URL Standard's parser would decode or
 * drop.
 */
const FOREIGN_ASCII = /[^a-zA-Z0-9.\-\u0080-\u{10ffff}]/u

/**
 * Parses a host name that a workspace may claim; the result is lower-case and in A-label form (RFC
 * 5890). Refuses ports, addresses, names without a dot, and public suffixes (`co.uk`) by the Public
 * Suffix List. A suffix that is not on the list (`go.acme.test`) is accepted.
 */
export function parseHost(text: string): Parsed<string> {
  if (FOREIGN_ASCII.test(text)) {
    return { fault: { code: 'invalid_host', reason: 'characters' } }
  }
  const host = domainToASCII(text.replace(/\.$/, ''))
  const labels = host.split('.')
  if (host.length > HOST_LENGTH_MAX || !labels.every((label) => LABEL.test(label))) {
    return { fault: { code: 'invalid_host', reason: 'form' } }
  }
  if (labels.some((label) => label.startsWith('xn--')) && !isReadable(host)) {
    return { fault: { code: 'invalid_host', reason: 'international' } }
  }
  if (isIpAddress(host)) return { fault: { code: 'invalid_host', reason: 'ip_address' } }
  if (labels.length < 2) return { fault: { code: 'invalid_host', reason: 'no_dot' } }
  if (getPublicSuffix(host, { allowPrivateDomains: true }) === host) {
    return { fault: { code: 'public_suffix' } }
  }
  return { value: host }
}

/**
 * Top-level names that public DNS does not have (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476,
 * and
 * https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en
 * for `internal`). Without `test`, which is for testing, and `localhost`, which is this machine.
 */
const SPECIAL_USE = ['alt', 'home.arpa', 'internal', 'invalid', 'local', 'onion']

/**
 * Returns the special-use name that a host equals or is below, or undefined for a name of public
 * DNS.
 */
export function specialUseOf(host: string): string | undefined {
  return SPECIAL_USE.find((name) => host === name || host.endsWith(`.${name}`))
}

/** Returns the host name for display: `xn--mnchen-3ya.example` as `münchen.example`. */
export function displayHost(host: string): string {
  return host.includes('xn--') ? domainToUnicode(host) || host : host
}

/**
 * Returns the host name for a sentence: an international one in both forms, as `münchen.example
 * (xn--…)`.
 */
export function formatHost(host: string): string {
  const shown = displayHost(host)
  return shown === host ? host : `${shown} (${host})`
}

/** Returns the log fields for a host: an international one in both forms. */
export function hostFields(host: string): { host: string; unicodeHost?: string } {
  const shown = displayHost(host)
  return shown === host ? { host } : { host, unicodeHost: shown }
}

function isReadable(host: string): boolean {
  // domainToUnicode returns a label that it cannot decode unchanged.
  const unicode = domainToUnicode(host)
  const isDecoded = unicode.split('.').every((label) => !label.startsWith('xn--'))
  return unicode !== '' && isDecoded && domainToASCII(unicode) === host
}
