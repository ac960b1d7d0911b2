import type { AnswerHeaders, Exchange } from './exchange.ts'
import { PAGE_POLICY, type PageContent, renderPage } from './pages/page.ts'

/** On every answer to a visitor: not cached, not indexed. */
const COMMON_HEADERS: AnswerHeaders = {
  'Cache-Control': 'private, no-store',
  'X-Robots-Tag': 'noindex',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
}

const REDIRECT_HEADERS: AnswerHeaders = { ...COMMON_HEADERS, 'Content-Length': '0' }

const PAGE_HEADERS: AnswerHeaders = {
  ...COMMON_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  'X-Content-Type-Options': 'nosniff',
}

/** @param status 302 for a visit, 303 for the answer to a form */
export function sendRedirect(
  exchange: Exchange,
  status: 302 | 303,
  location: string,
  extra?: AnswerHeaders,
): void {
  exchange.answer(status, REDIRECT_HEADERS, { Location: location, ...extra }, '')
}

export function sendPage(
  exchange: Exchange,
  status: number,
  content: PageContent,
  extra?: AnswerHeaders,
): void {
  const page = bytesOf(content)
  const own = { 'Content-Length': String(page.length), ...extra }
  exchange.answer(status, PAGE_HEADERS, own, page)
}

/** Most pages are the same for all visitors, and are rendered once. */
const rendered = new WeakMap<PageContent, string>()

/** Returns a page's bytes, one character each. */
function bytesOf(content: PageContent): string {
  const known = rendered.get(content)
  if (known !== undefined) return known
  const bytes = Buffer.from(renderPage(content)).toString('latin1')
  rendered.set(content, bytes)
  return bytes
}
