import { preferredLanguage } from '../platform/http/preferred-language.ts'
import type { AnswerHeaders, Exchange } from './exchange.ts'
import { PAGE_POLICY } from './pages/page.ts'
import type { PageTexts } from './pages/texts/page-texts.ts'
import { DEFAULT_TEXTS, TEXTS } from './pages/texts/texts-by-language.ts'
import { renderVisitorPage, type VisitorPage } from './pages/visitor-page.ts'

/** On every answer to a visitor: not cached, not indexed. */
const COMMON_HEADERS: AnswerHeaders = {
  'Cache-Control': 'private, no-store',
  'X-Robots-Tag': 'noindex',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
}

const REDIRECT_HEADERS: AnswerHeaders = { ...COMMON_HEADERS, 'Content-Length': '0' }

/**
 * By the texts of a language. No cache keeps a page; `Vary` is for those that are configured to keep it anyway,
 * which must not show it to visitors with another language.
 */
const pageHeaders = new WeakMap<PageTexts, AnswerHeaders>()

/** @param status 302 for a visit, 303 for the answer to a form */
export function sendRedirect(
  exchange: Exchange,
  status: 302 | 303,
  location: string,
  extra?: AnswerHeaders,
): void {
  exchange.answer(status, REDIRECT_HEADERS, { Location: location, ...extra }, '')
}

/** Sends a page in the visitor's language. */
export function sendPage(
  exchange: Exchange,
  status: number,
  page: VisitorPage,
  extra?: AnswerHeaders,
): void {
  const texts = preferredLanguage(exchange.headers['accept-language'], TEXTS, DEFAULT_TEXTS)
  const bytes = renderVisitorPage(page, texts, exchange.target)
  const own = { 'Content-Length': String(bytes.length), ...extra }
  exchange.answer(status, pageHeadersOf(texts), own, bytes)
}

function pageHeadersOf(texts: PageTexts): AnswerHeaders {
  let headers = pageHeaders.get(texts)
  if (headers === undefined) {
    headers = {
      ...COMMON_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': texts.tag,
      Vary: 'Accept-Language',
      'Content-Security-Policy': PAGE_POLICY,
      'X-Content-Type-Options': 'nosniff',
    }
    pageHeaders.set(texts, headers)
  }
  return headers
}
