import fc from 'fast-check'
import { HOSTILE_HOSTS, HOSTILE_PATHS } from './arbitrary-visit.ts'

/** What a client sends on one connection. */
export type Conversation = {
  /** Packets in order, as Latin-1 characters. */
  readonly packets: readonly Packet[]
  /** Whether the client closes the connection, or asks the server to with a last request. */
  readonly end: 'by-client' | 'by-request'
}

type Packet = {
  readonly bytes: string
  /** Whether the client waits for an answer before it continues. */
  readonly waits: boolean
}

/** Shrinks to the usual value; the rare one occurs once in `weight` + 1 times. */
function often<T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>, weight = 12): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare })
}

const PATHS = [
  ...['/plain', '/plain?a=1&b=2', '/PLAIN', '/%70lain', '/query?x=9&x=8', '/mixed', '/Mixed'],
  ...[
    '/stra%C3%9Fe',
    '/a/b',
    '/app',
    '/expired',
    '/expired-on',
    '/locked',
    '/missing',
    '/gone?q=1',
  ],
  ...[
    '/',
    '/?a',
    '/api/v1/links',
    '/API/v1',
    '/docs',
    '/robots.txt',
    '/slow-1',
    '/broken',
    '/away',
  ],
  ...[
    '/plain?qr=1',
    '/plain?qr=1&z',
    '/plain#part',
    '/plain?<>"',
    '/plain?[a]={b}|^`',
    '/plain??#?',
  ],
  ...['/plain%zz', '/%', '/%00', '/%ff', '/control'],
]
const HOSTS = [
  ...['go.localhost', 'GO.localhost', 'go.localhost:3000', 'go.localhost.', 'own.localhost'],
  ...['fallback.localhost', 'nobody.example', '127.0.0.1', '127.0.0.1:80', '[::1]', '[::1]:80'],
]
const METHODS = [
  'HEAD',
  'POST',
  'PUT',
  'OPTIONS',
  'DELETE',
  'get',
  'GETT',
  'PRI',
  'CONNECT',
  '',
  'G\0T',
]
const VERSIONS = [
  ...[
    'HTTP/1.0',
    'HTTP/1.2',
    'HTTP/2.0',
    'HTTP/0.9',
    'http/1.1',
    'HTTP/1.1 ',
    ' HTTP/1.1',
    'HTTP/1.',
  ],
  ...['', 'HTTP/11', 'HTTP/1.10', 'HTTPS/1.1', 'ICE/1.0'],
]
/** Common names and values. */
const HEADERS: readonly (readonly [name: string, value: string])[] = [
  [
    'User-Agent',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Mobile/15E148 Safari/604.1',
  ],
  ['User-Agent', 'Mozilla/5.0 (Linux; Android 14) Chrome/139.0.0.0 Mobile Safari/537.36'],
  ['User-Agent', 'Googlebot/2.1 (+http://www.google.com/bot.html)'],
  ['User-Agent', ''],
  ['Accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'de-DE,de;q=0.9,en;q=0.8'],
  ['Accept-Language', 'ja'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Referer', 'https://News.example.org:8080/path?query'],
  ['Cookie', 'a=b; terse_password=1.x'],
  ['Cookie', '__Host-session=0123456789abcdef'],
  ['Connection', 'keep-alive'],
  ['Connection', 'Keep-Alive'],
  ['Sec-Purpose', 'prefetch;prerender'],
  ['Purpose', 'prefetch'],
  ['X-Purpose', 'preview'],
  ['X-Moz', 'prefetch'],
  ['X-Forwarded-For', '203.0.113.7'],
  ['X-Forwarded-For', '198.51.100.1, 203.0.113.9:555'],
  ['X-Forwarded-Proto', 'https'],
  ['Upgrade-Insecure-Requests', '1'],
  ['If-None-Match', '"x"'],
  ['Range', 'bytes=0-1'],
  ['DNT', '1'],
]
const ODD_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Connection', 'close'],
  ['Connection', 'Close'],
  ['Connection', 'keep-alive, close'],
  ['Connection', 'upgrade'],
  ['Connection', 'x-moz'],
  ['Proxy-Connection', 'close'],
  ['Proxy-Connection', 'keep-alive'],
  ['Keep-Alive', 'timeout=1'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['HTTP2-Settings', 'AAMAAABkAAQCAAAAAAIAAAAA'],
  ['Content-Length', '0'],
  ['Content-Length', '5'],
  ['Content-Length', '+5'],
  ['Content-Length', '5, 5'],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', 'identity'],
  ['Transfer-Encoding', 'chunked, identity'],
  ['TE', 'trailers'],
  ['Trailer', 'X-Moz'],
  ['Expect', '100-continue'],
  ['Expect', '200-maybe'],
  ['Host', 'go.localhost'],
  ['Host', 'other.localhost'],
  ['Host ', 'other.localhost'],
  ['\0Host', 'a'],
  ['H\xf6st', 'a'],
  ['', 'a'],
  ['A(b)', 'c'],
  ['X_Y.Z!', 'c'],
  ['A', 'b\0c'],
  ['A', 'b\x7fc'],
  ['A', 'b\xe4c'],
  ['A', 'b\rc'],
  ['A', 'b\nc'],
  ['User-Agent', '\xff\xfe'],
  ['User-Agent', 'tab\tbed'],
  ['A', 'b'.repeat(5_000)],
  ['A', 'b'.repeat(9_000)],
  ['A', 'b'.repeat(17_000)],
]
const SEPARATORS = [':', ':\t', ':  ', ' : ', ': \t ', ':\r\n ', '', '::']
const LINE_ENDS = ['\n', '\r', ' \r\n', '\t\r\n', '\r\n ', '\r\r\n', '\n\r\n', '\0\r\n']

const letterCase = fc.constantFrom<(name: string) => string>(
  (name) => name,
  (name) => name.toLowerCase(),
  (name) => name.toUpperCase(),
)

const anyHeader = fc
  .tuple(
    often(fc.constantFrom(...HEADERS), fc.constantFrom(...ODD_HEADERS), 16),
    letterCase,
    often(fc.constant(': '), fc.constantFrom(...SEPARATORS), 30),
    often(fc.constant('\r\n'), fc.constantFrom(...LINE_ENDS), 40),
  )
  .map(([[name, value], inCase, separator, end]) => `${inCase(name)}${separator}${value}${end}`)

/** Headers that every server accepts, in any letter case and with optional white space. */
const usualHeader = fc
  .tuple(fc.constantFrom(...HEADERS), letterCase, fc.constantFrom(': ', ':', ':\t '))
  .map(([[name, value], inCase, separator]) => `${inCase(name)}${separator}${value}\r\n`)

const target = often(
  fc.constantFrom(...PATHS),
  fc.oneof(
    fc.constantFrom(...HOSTILE_PATHS),
    fc.constantFrom(
      'http://go.localhost/plain',
      'HTTPS://go.localhost',
      'http://own.localhost/docs',
    ),
    fc.integer({ min: 1, max: 20_000 }).map((length) => `/${'a'.repeat(length)}`),
  ),
)

const hostLine = often(
  fc.constantFrom(...HOSTS).map((host) => `Host: ${host}\r\n`),
  fc.oneof(
    fc.constant(''),
    fc.constantFrom('host:go.localhost\r\n', 'HOST:\tgo.localhost\t\r\n', 'Host: go.localhost\n'),
    fc.constantFrom(...HOSTILE_HOSTS).map((host) => `Host: ${host}\r\n`),
  ),
)

const oddMessage = fc
  .tuple(
    often(fc.constant('GET'), fc.constantFrom(...METHODS), 16),
    target,
    often(fc.constant('HTTP/1.1'), fc.constantFrom(...VERSIONS), 30),
    hostLine,
    fc.array(anyHeader, { maxLength: 8 }),
    fc.nat(),
    often(
      fc.constant(''),
      fc.constantFrom('hello', '5\r\nhello\r\n0\r\n\r\n', '\r\n', '\0', 'G'),
      10,
    ),
  )
  .map(([method, path, version, host, headers, place, body]) => {
    const lines = headers.toSpliced(place % (headers.length + 1), 0, host)
    return `${method} ${path} ${version}\r\n${lines.join('')}\r\n${body}`
  })

const usualMessage = fc
  .tuple(
    fc.constantFrom(...PATHS),
    fc.constantFrom(...HOSTS),
    fc.uniqueArray(usualHeader, { maxLength: 8, selector: nameOf }),
    fc.nat(),
  )
  .map(([path, host, headers, place]) => {
    const lines = headers.toSpliced(place % (headers.length + 1), 0, `Host: ${host}\r\n`)
    return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
  })

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':')).toLowerCase()
}

/** Inserts, removes or replaces one byte. */
const slip = fc.record({
  place: fc.nat(),
  taken: fc.constantFrom(0, 1),
  put: fc.constantFrom('', '\0', '\r', '\n', ' ', '\t', ':', '\x7f', '\x80', '\xff', 'a', '/', ','),
})

const message = fc.oneof({ weight: 2, arbitrary: usualMessage }, oddMessage)

const messageWithSlips = often(
  message,
  fc.tuple(message, fc.array(slip, { minLength: 1, maxLength: 3 })).map(([text, slips]) =>
    slips.reduce((bytes, { place, taken, put }) => {
      const at = place % (bytes.length + 1)
      return bytes.slice(0, at) + put + bytes.slice(at + taken)
    }, text),
  ),
  8,
)

/** How a message is sent: whole, joined with the next one, or in pieces. */
type Delivery = {
  readonly cuts: readonly number[]
  readonly joined: boolean
  readonly waits: boolean
}

const delivery: fc.Arbitrary<Delivery> = fc.record({
  cuts: often(fc.constant<number[]>([]), fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), 5),
  joined: fc.integer({ min: 0, max: 7 }).map((roll) => roll === 7),
  waits: fc.integer({ min: 0, max: 4 }).map((roll) => roll !== 4),
})

function packetsOf(messages: readonly (readonly [string, Delivery])[]): Packet[] {
  const packets: Packet[] = []
  let waiting = ''
  for (const [text, { cuts, joined, waits }] of messages) {
    const places = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b)
    let from = 0
    for (const place of places) {
      packets.push({ bytes: waiting + text.slice(from, place), waits: false })
      waiting = ''
      from = place
    }
    waiting += text.slice(from)
    if (joined) continue
    packets.push({ bytes: waiting, waits })
    waiting = ''
  }
  if (waiting !== '') packets.push({ bytes: waiting, waits: false })
  return packets.filter(({ bytes }) => bytes !== '')
}

/** Conversations of mostly plain requests, and some malformed ones. */
export const anyConversation: fc.Arbitrary<Conversation> = fc.record({
  packets: fc
    .array(fc.tuple(messageWithSlips, delivery), { minLength: 1, maxLength: 4 })
    .map(packetsOf),
  end: fc.constantFrom('by-request', 'by-request', 'by-request', 'by-client'),
})
