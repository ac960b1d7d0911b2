import type { IncomingHttpHeaders } from 'node:http'

/**
 * The headers on which the answer to a visit, or its click, may depend. The fast path reads only these, so
 * a rule that needs another header adds it here.
 */
export const VISIT_HEADERS = [
  'cookie',
  'user-agent',
  'referer',
  'accept-language',
  'sec-purpose',
  'purpose',
  'x-purpose',
  'x-moz',
  'x-forwarded-for',
  'x-forwarded-proto',
] as const

export type VisitHeader = (typeof VISIT_HEADERS)[number]

/** Every key is required, so that a header that was not read cannot pass for one that was not sent. */
export type VisitHeaders = { readonly [Name in VisitHeader]: string | undefined }

export function visitHeadersOf(headers: IncomingHttpHeaders): VisitHeaders {
  return {
    cookie: headers.cookie,
    'user-agent': headers['user-agent'],
    referer: headers.referer,
    'accept-language': headers['accept-language'],
    'sec-purpose': textOf(headers['sec-purpose']),
    purpose: textOf(headers.purpose),
    'x-purpose': textOf(headers['x-purpose']),
    'x-moz': textOf(headers['x-moz']),
    'x-forwarded-for': textOf(headers['x-forwarded-for']),
    'x-forwarded-proto': textOf(headers['x-forwarded-proto']),
  }
}

/** Node's types allow an array, although Node joins all repeated headers except `Set-Cookie`. */
function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
