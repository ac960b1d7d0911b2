/** What a visitor of a short link gets, from the old service or from Terse. */
export type LinkAnswer =
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  /** A page in place of the destination, such as one that asks for a password. */
  | { readonly kind: 'page'; readonly status: number; readonly location: string | null }
  | { readonly kind: 'gone'; readonly status: number }
  | { readonly kind: 'unknown'; readonly status: number | null; readonly reason: string }

const REDIRECTS = [301, 302, 303, 307, 308]
const PAGES = [200, 401, 403]
const GONE = [404, 410, 451]

/**
 * Reads an answer over HTTP. A redirect within the host of the short link leads to a page of the service, as Kutt
 * does for protected and banned links.
 */
export function answerFromHttp(url: URL, status: number, header: string | undefined): LinkAnswer {
  if (GONE.includes(status)) return { kind: 'gone', status }
  if (PAGES.includes(status)) return { kind: 'page', status, location: null }
  const location = REDIRECTS.includes(status) ? header : undefined
  const target = location === undefined ? null : URL.parse(utf8Of(location), url)
  if (target === null)
    return { kind: 'unknown', status, reason: `it answers with status ${status}` }
  const kind = target.hostname === url.hostname ? 'page' : 'redirect'
  return { kind, status, location: target.href }
}

/** Node.js reads headers as Latin-1; services that do not encode a destination send UTF-8. */
function utf8Of(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8')
  return text.includes('\u{fffd}') ? header : text
}
