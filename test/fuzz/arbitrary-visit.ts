import fc from 'fast-check'

/** A visit as sent; its bytes are Latin-1 characters. */
export type RawVisit = { readonly bytes: string }

/** A visit to an existing link, in a form that must be answered with its destination. */
export type PlainVisit = RawVisit & { readonly key: string; readonly query: string }

type KnownLink = { readonly key: string }

const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148'

export const HOSTILE_HOSTS = [
  ...['', ' ', 'a@b/x', 'go.localhost@evil.example', 'go.localhost/plain', 'go.localhost:x'],
  ...['go.localhost:99999', 'go.localhost:123456', 'go..localhost', '.', '[', '[::1', '[::1]:80'],
  ...['go.localhost, evil.example', 'go.localhost\0', '<script>alert(1)</script>', '127.0.0.1'],
  ...['xn--a.example', 'xn--\xfc', 'a'.repeat(5_000), `${'a.'.repeat(200)}example`, '__proto__'],
]

export const HOSTILE_PATHS = [
  ...['*', '//', '///', '/.', '/..', '/%', '/%zz', '/%00', '/%ff', '/%ED%A0%80', '/%2f', '/\xff'],
  ...['/plain/', '/plain%00', '/plain%0d%0aSet-Cookie:x=y', '//evil.example/', '/\\evil.example'],
  ...['/a//b', '/a%2Fb', '/PLAIN', '/a/../plain', '/__proto__', '/constructor', '/api/v1/links'],
  ...[
    'http://go.localhost/plain',
    'http://evil.example/',
    'ftp://go.localhost/',
    'go.localhost:80',
  ],
  ...['', '/a b', `/${'a'.repeat(10_000)}`, `/${'%41'.repeat(3_000)}`, `/${'/'.repeat(5_000)}`],
]

const HEADER_NAMES = [
  ...['User-Agent', 'Cookie', 'Referer', 'Accept', 'Accept-Language', 'X-Forwarded-For'],
  ...['X-Forwarded-Proto', 'X-Forwarded-Host', 'Purpose', 'Sec-Purpose', 'X-Moz', 'Forwarded'],
]

function bytes(allowed: (byte: number) => boolean, maxLength: number): fc.Arbitrary<string> {
  const characters = Array.from({ length: 256 }, (_, byte) => byte)
    .filter(allowed)
    .map((byte) => String.fromCharCode(byte))
  return fc.string({ unit: fc.constantFrom(...characters), maxLength })
}

const anyBytes = bytes(() => true, 60)
const headerBytes = bytes((byte) => byte >= 0x20 && byte !== 0x7f, 200)
const queryText = bytes((byte) => byte > 0x20 && byte < 0x7f && byte !== 0x23, 60)

const parameters = fc
  .array(
    fc.tuple(
      fc.constantFrom('x', 'y', 'utm_source', 'utm_medium', 'q', '', '__proto__', '%78'),
      fc.constantFrom('=', '', '=%0d%0aX:y', '="<>\\^`{|}', '=%zz', '=#frag', '=a=b&'),
    ),
    { maxLength: 6 },
  )
  .map((pairs) => pairs.map((pair) => pair.join('')).join('&'))

function pathOf(links: readonly KnownLink[]): fc.Arbitrary<{ key: string; path: string }> {
  return fc.tuple(fc.constantFrom(...links), fc.boolean()).map(([{ key }, everyByte]) => {
    const path = everyByte ? Buffer.from(key).toString('hex').replace(/../g, '%$&') : encodeURI(key)
    return { key, path: `/${path}` }
  })
}

function headersOf(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const header = fc.tuple(
    fc.constantFrom(...HEADER_NAMES),
    fc.oneof(values, fc.constantFrom(IPHONE, 'Android', 'prefetch', 'terse_password=1.x', '::1')),
  )
  return fc
    .array(header, { maxLength: 4 })
    .map((list) => list.map(([name, value]) => `${name}: ${value}\r\n`).join(''))
}

/** Makes the server close the connection after it has answered the requests before. */
const LAST_VISIT = 'GET / HTTP/1.1\r\nHost: go.localhost\r\nConnection: close\r\n\r\n'

/** Visits with arbitrary content in every part. */
export function anyVisit(links: readonly KnownLink[]): fc.Arbitrary<RawVisit> {
  const host = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('go.localhost', 'localhost', 'GO.localhost.:80') },
    fc.constantFrom(...HOSTILE_HOSTS),
    anyBytes,
  )
  const target = fc.oneof(
    pathOf(links).map(({ path }) => path),
    fc.constantFrom(...HOSTILE_PATHS),
    anyBytes.map((text) => `/${text}`),
  )
  const query = fc.oneof(
    fc.constant(''),
    fc.oneof(parameters, anyBytes).map((text) => `?${text}`),
  )
  const method = fc.oneof(
    { weight: 8, arbitrary: fc.constant('GET') },
    fc.constantFrom('POST', 'PUT', 'OPTIONS', 'TRACE', 'get', 'G\0T', 'PURGE', 'PROPFIND'),
  )
  const otherHeaders = fc.constantFrom(
    ...['', '', '', 'Transfer-Encoding: chunked\r\n', 'Content-Length: 3\r\n', 'Expect: x\r\n'],
    ...['Connection: close\r\n', 'Host: b\r\n', ': x\r\n'],
  )
  return fc
    .tuple(method, target, query, host, headersOf(anyBytes), otherHeaders)
    .map(([verb, path, search, name, headers, others]) => ({
      bytes: `${verb} ${path}${search} HTTP/1.1\r\nHost: ${name}\r\n${headers}${others}\r\n${LAST_VISIT}`,
    }))
}

/** Visits to links on their host, with any query and any header values that HTTP allows. */
export function plainVisit(links: readonly KnownLink[]): fc.Arbitrary<PlainVisit> {
  const query = fc.oneof(
    fc.constant(''),
    queryText,
    parameters.map((text) => text.replaceAll('#', '')),
  )
  const host = fc.constantFrom('go.localhost', 'GO.LOCALHOST', 'go.localhost.', 'go.localhost:81')
  return fc
    .tuple(pathOf(links), query, host, headersOf(headerBytes))
    .map(([{ key, path }, search, name, headers]) => ({
      key,
      query: search,
      bytes: `GET ${path}${search === '' ? '' : `?${search}`} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n${headers}\r\n`,
    }))
}
