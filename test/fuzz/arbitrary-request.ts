import fc from 'fast-check'
import { conforming, HOSTILE_TEXTS, hostileValue, nearlyConforming } from './arbitrary-values.ts'
import type { Operation } from './openapi-operations.ts'

/** What the `{id}` of a request stands for; resolved when it is sent, because ids come from answers. */
export type IdChoice =
  | { readonly kind: OwnedKind; readonly nth: number }
  | { readonly kind: 'text'; readonly text: string }
type OwnedKind = 'link' | 'domain' | 'deleted' | 'foreign-link' | 'foreign-domain'

/** The caller whose token a request carries. */
export type Caller =
  | { readonly kind: 'owner' | 'reader' | 'revoked' | 'expired' | 'anonymous' }
  | { readonly kind: 'header'; readonly text: string }

/** A request before its ids and tokens are known. */
export type RequestPlan = {
  readonly operation: Operation
  readonly id: IdChoice
  /** As sent, without the question mark. */
  readonly query: string
  readonly caller: Caller
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

type Weighted<T> = fc.WeightedArbitrary<T>

function often<T>(weight: number, arbitrary: fc.Arbitrary<T>): Weighted<T> {
  return { weight, arbitrary }
}

const MALFORMED_IDS = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%00',
  '%',
  '%zz',
  '%ff%fe',
  '%ED%A0%80',
  '%2F',
  '/',
  'a/b/c',
  '{id}',
  '__proto__',
  'null',
  '-1',
  "'%20or%201=1--",
  '0191e0c0-0000-7000-8000-00000000000',
  '0191E0C0-0000-7000-8000-00000000000G',
  '{0191e0c0-0000-7000-8000-000000000000}',
  '0191e0c0-0000-7000-8000-000000000000;x=1',
  '0191e0c0-0000-7000-8000-000000000000/',
  '0191e0c0-0000-7000-8000-000000000000%00',
  '%F0%9F%98%80',
  'a'.repeat(256),
  'a'.repeat(2_000),
]

function idOf(operation: Operation): fc.Arbitrary<IdChoice> {
  const own = operation.path.includes('/links') ? 'link' : 'domain'
  const owned = (kind: OwnedKind) => fc.nat().map((nth): IdChoice => ({ kind, nth }))
  return fc.oneof(
    // Fewer deletes than creations succeed, so that some items always remain.
    often(operation.method === 'DELETE' ? 3 : 12, owned(own)),
    often(1, owned(own === 'link' ? 'domain' : 'link')),
    often(1, owned('deleted')),
    often(1, owned('foreign-link')),
    often(1, owned('foreign-domain')),
    often(
      1,
      fc.uuid().map((text): IdChoice => ({ kind: 'text', text })),
    ),
    often(
      3,
      fc.constantFrom(...MALFORMED_IDS).map((text): IdChoice => ({ kind: 'text', text })),
    ),
  )
}

const HOSTILE_QUERY_VALUES = [
  ...['', '%', '%zz', '%00', '%ff', '%ED%A0%80', '0', '-1', '+1', '1.0', '1e3', '0x10', '%D9%A3'],
  ...['NaN', 'Infinity', '9007199254740993', '1'.repeat(41), '%20', '%0d%0a', '\\', '%5B%5D'],
  ...["'--", 'true', 'TRUE', '__proto__', 'a'.repeat(2_000), '%F0%9F%98%80', '%22%3Cscript%3E'],
]

/** Query strings as sent: the operation’s parameters, repeated ones, and unknown ones. */
function queryOf(operation: Operation): fc.Arbitrary<string> {
  const good = operation.query.map(({ name, schema }) =>
    conforming(schema, name).map((value) =>
      [value]
        .flat()
        .map((one) => `${name}=${encode(String(one))}`)
        .join('&'),
    ),
  )
  const names = operation.query.map(({ name }) => name)
  const bad = fc
    .tuple(
      fc.constantFrom(...names, ...names, 'page[]', 'page[a]', '__proto__', 'constructor', '', 'x'),
      fc.constantFrom('=', '=', '=', '', '=='),
      fc.constantFrom(...HOSTILE_QUERY_VALUES),
    )
    .map((parts) => parts.join(''))
  const parameter = good.length === 0 ? bad : fc.oneof(often(8, fc.oneof(...good)), often(2, bad))
  return fc.oneof(
    often(names.length === 0 ? 9 : 1, fc.constant('')),
    often(
      1,
      fc.array(parameter, { maxLength: 4 }).map((parts) => parts.join('&')),
    ),
    often(names.length === 0 ? 0 : 4, parameter),
  )
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

const callerOf: fc.Arbitrary<Caller> = fc.oneof(
  often(50, fc.constant<Caller>({ kind: 'owner' })),
  often(3, fc.constant<Caller>({ kind: 'reader' })),
  often(2, fc.constantFrom<Caller>({ kind: 'revoked' }, { kind: 'expired' })),
  often(1, fc.constant<Caller>({ kind: 'anonymous' })),
  often(
    2,
    fc
      .constantFrom(
        ...['', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearer terse_', 'bearer \u00e9', 'Bearer a b'],
        ...[`Bearer ${'a'.repeat(1_000)}`, 'Bearer terse_000000000000000000000000000000AAAAAA'],
      )
      .map((text): Caller => ({ kind: 'header', text })),
  ),
)

const CONTENT_TYPES = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''],
  ...['application/json; charset=utf-16', 'application/json;;;', 'APPLICATION/JSON', '*/*', 'json'],
  ...['application/merge-patch+json', 'application/json, text/plain', '\u00e9/\u00e9', 'a/b/c'],
]

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['accept', 'text/html'],
  ['accept', '\u00ff'],
  ['accept-encoding', 'gzip;q=nan, identity;q=0'],
  ['content-encoding', 'gzip'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-host', 'evil.example'],
  ['x-forwarded-for', '1.2.3.4, \u00ff'],
  ['x-forwarded-proto', 'javascript'],
  ['x-request-id', 'a'.repeat(2_000)],
  ['range', 'bytes=-1'],
  ['if-none-match', '*'],
  ['if-none-match', 'W/"x", "y",'],
  ['if-match', '"x"'],
  ['if-match', '*'],
  ['if-match', 'W/"\u00e9", x'],
  ['if-modified-since', 'never'],
  ['cookie', '__proto__=1; ='],
  ['origin', 'null'],
  ['referer', 'http://[::'],
  ['__proto__', 'x'],
  ['te', 'trailers'],
  ['connection', 'close'],
  ['forwarded', 'host="\u00e9'],
]

function headersOf(operation: Operation): fc.Arbitrary<Record<string, string>> {
  const json = operation.body === undefined ? undefined : 'application/json'
  const contentType = fc.oneof(
    often<string | undefined>(30, fc.constant(json)),
    often(2, fc.constant('application/json; charset=utf-8')),
    often(2, fc.constantFrom(...CONTENT_TYPES)),
    often(operation.body === undefined ? 0 : 1, fc.constant(undefined)),
  )
  const idempotencyKey = fc.oneof(
    often<string | undefined>(operation.takesIdempotencyKey ? 6 : 30, fc.constant(undefined)),
    often(2, fc.stringMatching(/^[a-f]$/)),
    often(1, fc.constantFrom('', 'a b', '\u00e9', 'k'.repeat(255), 'k'.repeat(256), '\t')),
  )
  const odd = fc.oneof(
    often(6, fc.constant([])),
    often(1, fc.array(fc.constantFrom(...ODD_HEADERS), { maxLength: 3 })),
  )
  return fc.tuple(contentType, idempotencyKey, odd).map(([type, key, others]) => ({
    ...Object.fromEntries(others),
    ...(type !== undefined && { 'content-type': type }),
    ...(key !== undefined && { 'idempotency-key': key }),
  }))
}

/** Bodies that are not JSON, hold more than one value, or are not valid text. */
const BROKEN_BODIES = [
  ...['{', '{"domain":', '[', '"', 'nul', 'NaN', "{'a':1}", '{"a":1,}', '{}{}', '{} x', '\ufeff{}'],
  ...['', ' ', '\0', '<a/>', '{"url":"a","url":"b"}', '{"__proto__":{"x":1}}', '"\ud800"', '1e400'],
  ...['{"constructor":{"prototype":{}}}', '['.repeat(30_000), `{"a":${'9'.repeat(5_000)}}`],
  ...['{"a":'.repeat(10_000), JSON.stringify({ url: 'x'.repeat(70_000) }), ' '.repeat(66_000)],
]
  .map((text) => Buffer.from(text))
  .concat(Buffer.from('{"key":"\xff\xfe"}', 'latin1'), Buffer.from('{}', 'utf16le'))

function bodyOf(operation: Operation): fc.Arbitrary<Buffer | undefined> {
  const written = (values: fc.Arbitrary<unknown>) =>
    values.map((value) => Buffer.from(JSON.stringify(value)))
  const broken = fc.constantFrom(...BROKEN_BODIES)
  if (operation.body === undefined) {
    return fc.oneof(
      often<Buffer | undefined>(20, fc.constant(undefined)),
      often(1, written(hostileValue)),
      often(1, broken),
    )
  }
  return fc.oneof(
    often<Buffer | undefined>(10, written(conforming(operation.body))),
    often(5, written(nearlyConforming(operation.body))),
    often(1, written(hostileValue)),
    often(1, broken),
    often(1, fc.constant(undefined)),
  )
}

/** Requests for one operation: valid, nearly valid, and hostile in each part. */
export function requestFor(operation: Operation): fc.Arbitrary<RequestPlan> {
  return fc.record({
    operation: fc.constant(operation),
    id: idOf(operation),
    query: queryOf(operation),
    caller: callerOf,
    headers: headersOf(operation),
    body: bodyOf(operation),
  })
}

/** Short texts, because a head that is too long is refused before it is parsed. */
const SHORT_TEXTS = HOSTILE_TEXTS.filter((text) => text.length <= 1_000)

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE']

/** Requests for which there is no operation: other methods, other paths. */
export function requestForNothing(operations: readonly Operation[]): fc.Arbitrary<RequestPlan> {
  const paths = [...new Set(operations.map(({ path }) => path))]
  const other = fc.constantFrom('/', '//links', '/link', '/LINKS', '/links.json', '/%00')
  const path = fc.oneof(
    fc.constantFrom(...paths),
    other.map((text) => `/api/v1${text}`),
    fc.constantFrom(...SHORT_TEXTS).map((text) => `/api/${encode(text)}`),
  )
  return fc
    .tuple(fc.constantFrom(...METHODS), path)
    .filter(([method, chosen]) => {
      const known = operations.filter((operation) => operation.path === chosen)
      return !known.some((one) => one.method === (method === 'HEAD' ? 'GET' : method))
    })
    .chain(([method, chosen]) => {
      const nothing = { takesIdempotencyKey: false, body: undefined, answers: new Map() }
      return requestFor({ ...nothing, method, path: chosen, query: [] })
    })
}
