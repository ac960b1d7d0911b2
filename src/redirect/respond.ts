import type { IncomingMessage, ServerResponse } from 'node:http'
import { PAGE_POLICY, type PageContent, renderPage } from './pages/page.ts'

/** On every answer to a visitor: kept by nobody, indexed by nobody. */
const COMMON_HEADERS = {
  'Cache-Control': 'private, no-store',
  'X-Robots-Tag': 'noindex',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
} as const

type ExtraHeaders = Readonly<Record<string, string>>

/** @param status 302 for a visit, 303 for the answer to a form */
export function sendRedirect(
  response: ServerResponse,
  status: 302 | 303,
  location: string,
  extra: ExtraHeaders = {},
): void {
  response.writeHead(status, {
    ...COMMON_HEADERS,
    Location: location,
    'Content-Length': '0',
    ...extra,
  })
  response.end()
}

export function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  content: PageContent,
  extra: ExtraHeaders = {},
): void {
  const page = Buffer.from(renderPage(content))
  response.writeHead(status, {
    ...COMMON_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': String(page.length),
    'Content-Security-Policy': PAGE_POLICY,
    'X-Content-Type-Options': 'nosniff',
    ...extra,
  })
  response.end(request.method === 'HEAD' ? undefined : page)
}
