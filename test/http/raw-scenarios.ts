/** What a test writes on a connection of its own, and the expected answers. */
export type RawScenario = {
  readonly name: string
  /** Bytes as Latin-1 characters. */
  readonly send: string
  /** The status of each answer in order; a list where several are valid. */
  readonly answers: readonly (number | readonly number[])[]
  /** The expected Location of the first answer. */
  readonly location?: string
}

/** The destinations of the links `visible` and `hidden`. */
export const VISIBLE = 'https://visible.example/'
export const HIDDEN = 'https://hidden.example/'

const CLOSE = 'Connection: close\r\n'
const HIDDEN_REQUEST = 'GET /hidden HTTP/1.1\r\nHost: go.localhost\r\n\r\n'

/** A visit to the link `visible` with the given header lines. */
function visit(lines: string, target = '/visible', version = 'HTTP/1.1'): string {
  return `GET ${target} ${version}\r\n${lines}\r\n`
}

const HOST = 'Host: go.localhost\r\n'

function refused(name: string, send: string): RawScenario {
  return { name, send, answers: [400] }
}

function served(name: string, send: string): RawScenario {
  return { name, send, answers: [302], location: VISIBLE }
}

function post(lines: string, body: string): string {
  return `POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines}\r\n${body}`
}

function chunked(body: string, lines = 'Transfer-Encoding: chunked\r\n'): string {
  return post(lines, body)
}

export const HOSTS: readonly RawScenario[] = [
  served('one Host header', visit(HOST + CLOSE)),
  served(
    'a Host with port, capitals and a final dot',
    visit(`Host: GO.localhost.:3000\r\n${CLOSE}`),
  ),
  refused('two Host headers', visit(`${HOST}Host: localhost\r\n`)),
  refused('the same Host twice', visit(HOST + HOST)),
  {
    name: 'a second Host header after 2,100 other headers',
    send: visit(`${HOST}${'a:\r\n'.repeat(2_100)}Host: localhost\r\n`),
    answers: [[400, 431]],
  },
  refused('no Host, in HTTP/1.1', visit('')),
  refused('no Host, in HTTP/1.0', visit('', '/visible', 'HTTP/1.0')),
  refused('an empty Host', visit('Host: \r\n')),
  refused('a Host with user and path', visit('Host: a@b/x\r\n')),
  refused('a Host longer than any host name', visit(`Host: ${'a.'.repeat(200)}localhost\r\n`)),
  refused('a Host with a path', visit('Host: go.localhost/visible\r\n')),
  refused('a Host with a space', visit('Host: go.localhost localhost\r\n')),
  refused('a Host with a list', visit('Host: go.localhost, localhost\r\n')),
  refused('a Host with an invalid port', visit('Host: go.localhost:http\r\n')),
  refused('a Host of bytes outside ASCII', visit('Host: g\xc3\xb6.localhost\r\n')),
  refused('a space before the colon of Host', visit('Host : go.localhost\r\n')),
]

export const TARGETS: readonly RawScenario[] = [
  served('an absolute http target', visit(HOST + CLOSE, 'http://go.localhost/visible')),
  served('an absolute https target', visit(HOST + CLOSE, 'https://go.localhost/visible')),
  served(
    'an absolute target whose host differs from the Host header',
    visit(`Host: other.localhost\r\n${CLOSE}`, 'http://go.localhost/visible'),
  ),
  refused('an absolute target without Host', visit('', 'http://go.localhost/visible')),
  refused('an absolute target with userinfo', visit(HOST, 'http://a:b@go.localhost/visible')),
  refused('an absolute target without a host', visit(HOST, 'http:///visible')),
  refused('an absolute target of another scheme', visit(HOST, 'ftp://go.localhost/visible')),
  refused('authority form', visit(HOST, 'go.localhost:80')),
  refused('asterisk form', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`),
  refused('a target without a slash', visit(HOST, 'visible')),
  refused('no target', `GET HTTP/1.1\r\n${HOST}\r\n`),
  refused('two targets', visit(HOST, '/visible /hidden')),
  refused('a NUL in the target', visit(HOST, '/visible\0')),
  { name: 'CONNECT', send: `CONNECT go.localhost:443 HTTP/1.1\r\n${HOST}\r\n`, answers: [] },
]

export const SYNTAX: readonly RawScenario[] = [
  ...[
    'HTTP/0.9',
    'HTTP/2.0',
    'HTTP/1.2',
    'HTTP/9.9',
    'HTTP/1',
    'http/1.1',
    'HTPP/1.1',
    'HTTP/1.1.1',
  ].map(
    (version): RawScenario => ({
      name: `version ${version}`,
      send: visit(HOST, '/visible', version),
      answers: [[400, 505]],
    }),
  ),
  refused('HTTP/0.9', 'GET /visible\r\n\r\n'),
  refused('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  refused('a TLS ClientHello', `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\x5a'.repeat(512)}`),
  refused('bytes of no protocol', '\x00\x01\x02\xff\xfe\r\n\r\n'),
  refused('an unknown method', `BREW /visible HTTP/1.1\r\n${HOST}\r\n`),
  refused('lines that end with LF alone', `GET /visible HTTP/1.1\nHost: go.localhost\n\n`),
  refused('a line that ends with CR alone', visit(`${HOST}A: b\rC: d\r\n`)),
  refused('a folded header', visit(`${HOST}A: b\r\n c\r\n`)),
  refused('a folded first header', visit(` A: b\r\n${HOST}`)),
  refused('a space before a colon', visit(`${HOST}A : b\r\n`)),
  refused('a header without a colon', visit(`${HOST}A\r\n`)),
  refused('a header without a name', visit(`${HOST}: b\r\n`)),
  refused('a NUL in a header', visit(`${HOST}A: b\0c\r\n`)),
  refused('a NUL in a header name', visit(`${HOST}A\0: b\r\n`)),
  {
    name: 'a header of 20 KB',
    send: visit(`${HOST}A: ${'b'.repeat(20_000)}\r\n`),
    answers: [431],
  },
  {
    name: 'a request line of 20 KB',
    send: visit(HOST, `/${'a'.repeat(20_000)}`),
    answers: [[414, 431]],
  },
  {
    name: '10,000 headers',
    send: visit(HOST + Array.from({ length: 10_000 }, (_, n) => `h${n}: x\r\n`).join('')),
    answers: [431],
  },
]

export const BODIES: readonly RawScenario[] = [
  refused('a negative length', post('Content-Length: -1\r\n', '')),
  refused('a length with a sign', post('Content-Length: +2\r\n', '{}')),
  refused('a length in hexadecimal', post('Content-Length: 0x2\r\n', '{}')),
  refused('a length too large for a number', post(`Content-Length: ${'9'.repeat(30)}\r\n`, '{}')),
  refused('two lengths', post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}x')),
  refused('two lengths in one header', post('Content-Length: 2, 2\r\n', '{}')),
  refused(
    'a length and chunks',
    chunked('2\r\n{}\r\n0\r\n\r\n', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n'),
  ),
  refused('a chunk size that is not a number', chunked('zz\r\n{}\r\n0\r\n\r\n')),
  refused('a negative chunk size', chunked('-2\r\n{}\r\n0\r\n\r\n')),
  refused('a chunk size too large for a number', chunked(`${'f'.repeat(20)}\r\n{}\r\n0\r\n\r\n`)),
  {
    name: 'a chunk longer than its size, after a head that is refused',
    send: chunked('1\r\n{}\r\n0\r\n\r\n'),
    answers: [[400, 401]],
  },
  refused('a chunk whose line ends with LF alone', chunked('2\n{}\n0\n\n')),
  refused('a NUL in a chunk extension', chunked('2;a=\0\r\n{}\r\n0\r\n\r\n')),
  refused('a chunk extension of 20 KB', chunked(`2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`)),
  {
    name: 'valid chunks',
    send: chunked('2\r\n{}\r\n0\r\n\r\n', `Transfer-Encoding: chunked\r\n${CLOSE}`),
    answers: [401],
  },
  {
    name: 'Expect: 100-continue',
    send: post(`Content-Length: 2\r\nExpect: 100-continue\r\n${CLOSE}`, '{}'),
    answers: [100, 401],
  },
  {
    name: 'another expectation',
    send: visit(`${HOST}Expect: 200-maybe\r\n${CLOSE}`),
    answers: [417],
  },
]

/** Each contains a second request that a server with another notion of lengths would answer. */
export const SMUGGLING: readonly RawScenario[] = [
  served(
    'a hidden request within a body',
    `${visit(`${HOST}${CLOSE}Content-Length: ${HIDDEN_REQUEST.length}\r\n`)}${HIDDEN_REQUEST}`,
  ),
  refused(
    'length first, chunks second',
    `${visit(`${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`)}0\r\n\r\n${HIDDEN_REQUEST}`,
  ),
  refused(
    'chunks first, length second',
    `${visit(`${HOST}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n`)}0\r\n\r\n${HIDDEN_REQUEST}`,
  ),
  ...['xchunked', 'chunked, identity', 'identity, chunked, x', '"chunked"', 'chunked\x0b'].map(
    (coding) =>
      refused(
        `Transfer-Encoding: ${JSON.stringify(coding)}`,
        `${visit(`${HOST}Transfer-Encoding: ${coding}\r\n`)}0\r\n\r\n${HIDDEN_REQUEST}`,
      ),
  ),
  refused(
    'Transfer-Encoding with a space before the colon',
    `${visit(`${HOST}Content-Length: 5\r\nTransfer-Encoding : chunked\r\n`)}0\r\n\r\n${HIDDEN_REQUEST}`,
  ),
  refused(
    'Transfer-Encoding after a line that ends with LF alone',
    `${visit(`${HOST}A: b\nTransfer-Encoding: chunked\r\n`)}0\r\n\r\n${HIDDEN_REQUEST}`,
  ),
  refused(
    'a line break in a chunk extension',
    `${chunked(`2;a=\n${HIDDEN_REQUEST}\r\n{}\r\n0\r\n\r\n`)}`,
  ),
  {
    name: 'a second Content-Length after 2,100 other headers',
    send: `${visit(`${HOST}Content-Length: 0\r\n${'a:\r\n'.repeat(2_100)}Content-Length: ${HIDDEN_REQUEST.length}\r\n`)}${HIDDEN_REQUEST}`,
    answers: [[400, 431]],
  },
]

export const CONVERSATIONS: readonly RawScenario[] = [
  {
    name: 'three requests at once, to the API and to links',
    send: `POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n${visit(HOST)}${visit(`Host: unknown.example\r\n${CLOSE}`)}`,
    answers: [401, 302, 404],
  },
  {
    name: '300 requests at once',
    send: visit(HOST).repeat(299) + visit(HOST + CLOSE),
    answers: Array.from({ length: 300 }, () => 302),
  },
  {
    name: 'a request that closes the connection, and nothing for the one after it',
    send: visit(HOST + CLOSE) + HIDDEN_REQUEST,
    answers: [302],
  },
  served('an upgrade to WebSocket, which it ignores', upgrade('websocket', CLOSE)),
  served('an upgrade to HTTP/2, which it ignores', upgrade('h2c', CLOSE)),
]

/** A visit that requests another protocol. */
export function upgrade(protocol: string, lines = ''): string {
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n'
  return visit(`${HOST}Connection: upgrade\r\n${lines}Upgrade: ${protocol}\r\n${key}`)
}
