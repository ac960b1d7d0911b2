import type { AnswerHeaders, Exchange } from './exchange.ts'
import { PAGE_POLICY, type PageContent, renderPage } from './pages/page.ts'

/** On every answer to a visitor: kept by nobody, indexed by nobody. */
const COMMON_HEADERS = {
  'Cache-Control': 'private, no-store',
  'X-Robots-Tag': 'noindex',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
} as const

const NONE: AnswerHeaders = {}

/** @param status 302 for a visit, 303 for the answer to a form */
export function sendRedirect(
  exchange: Exchange,
  status: 302 | 303,
  location: string,
  extra: AnswerHeaders = NONE,
): void {
  const headers = { ...COMMON_HEADERS, Location: location, 'Content-Length': '0', ...extra }
  exchange.answer(status, headers, '')
}

export function sendPage(
  exchange: Exchange,
  status: number,
  content: PageContent,
  extra: AnswerHeaders = NONE,
): void {
  const page = bytesOf(content)
  const headers = {
    ...COMMON_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': String(page.length),
    'Content-Security-Policy': PAGE_POLICY,
    'X-Content-Type-Options': 'nosniff',
    ...extra,
  }
  exchange.answer(status, headers, page)
}

/** Most pages are the same for everybody. */
const rendered = new WeakMap<PageContent, string>()

/** A page's bytes, a character each. */
function bytesOf(content: PageContent): string {
  const known = rendered.get(content)
  if (known !== undefined) return known
  const bytes = Buffer.from(renderPage(content)).toString('latin1')
  rendered.set(content, bytes)
  return bytes
}
