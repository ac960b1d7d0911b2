/** The words of a title that make a key, not longer than this: a key is read aloud and typed. */
const KEY_LENGTH_MAX = 32
/** Between the title of a page and the name of its site. */
const SITE_SEPARATOR = /\s+[|·–—-]\s+/

/**
 * Proposes a key from the title of a page: its words in small letters, without the name of the site and without accents.
 * Empty where the title has no word.
 */
export function proposeKey(title: string): string {
  const [own = ''] = title.trim().split(SITE_SEPARATOR)
  const plain = own.toLowerCase().replaceAll('ß', 'ss').normalize('NFD')
  // Only the accents of Latin letters: in other scripts marks belong to the word.
  const words = plain.replaceAll(/[\u0300-\u036f'’]/g, '').normalize('NFC')
  let key = ''
  for (const word of words.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []) {
    const longer = key === '' ? word : `${key}-${word}`
    if (longer.length > KEY_LENGTH_MAX) break
    key = longer
  }
  return key
}

/** What campaigns and networks add to addresses to follow people, which the destination does not need. */
const TRACKING =
  /^(?:utm_[a-z_]+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|mc_cid|mc_eid|igsh|igshid|twclid|ttclid|yclid|li_fat_id|_hsenc|_hsmi|srsltid)$/i

/** Returns an address without its tracking parameters, and their names. All else stays as it is written. */
export function withoutTracking(address: string): { address: string; found: readonly string[] } {
  const url = new URL(address)
  const isTracking = (part: string) => TRACKING.test(part.split('=', 1)[0] ?? '')
  const parts = url.search.slice(1).split('&')
  const found = parts.filter(isTracking).map((part) => part.split('=', 1)[0] ?? '')
  if (found.length === 0) return { address: url.href, found }
  url.search = parts.filter((part) => !isTracking(part)).join('&')
  return { address: url.href, found: [...new Set(found)] }
}

/** Returns an address that a link can lead to; `example.com/x` gets `https://`. Undefined for pages of the browser. */
export function destinationOf(text: string): string | undefined {
  const typed = text.trim()
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(typed) && !/^[\w.-]+:\d/.test(typed)
  const url = typed === '' ? null : URL.parse(hasScheme ? typed : `https://${typed}`)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  return hasScheme || url.hostname.includes('.') ? url.href : undefined
}

/** Returns an address as people read it: without scheme, `www.` and query. */
export function shownAddress(address: string): string {
  const { host, pathname } = new URL(address)
  return host.replace(/^www\./, '') + (pathname === '/' ? '' : pathname)
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** A service as typed: its origin, and whether others on the network could read what is sent to it. */
export type ServiceAddress = { readonly origin: string; readonly isPlain: boolean }

/** Reads the address of a service: with `https://` unless `http://` is typed, and without a path. */
export function parseService(text: string): ServiceAddress | undefined {
  const typed = text.trim()
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed)
  const isLocal = LOOPBACK.test(typed.replace(/[:/](?!.*\]).*$/, ''))
  const url = URL.parse(hasScheme ? typed : `${isLocal ? 'http' : 'https'}://${typed}`)
  if (url === null || !/^https?:$/.test(url.protocol) || /\s/.test(typed)) return undefined
  return { origin: url.origin, isPlain: url.protocol === 'http:' && !LOOPBACK.test(url.hostname) }
}

/** The permission for requests to a service. Firefox knows no ports there. */
export function originPattern(origin: string): string {
  const { protocol, hostname } = new URL(origin)
  return `${protocol}//${hostname}/*`
}
