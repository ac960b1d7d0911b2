import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSimpleRequest } from './simple-request.ts'

const HOST = 'Host: go.localhost\r\n'

function read(text: string) {
  return readSimpleRequest(Buffer.from(text, 'latin1'))
}

function visit(lines: string, target = '/key'): string {
  return `GET ${target} HTTP/1.1\r\n${lines}\r\n`
}

describe('readSimpleRequest', () => {
  test('returns the target, the host and the headers that redirects use', () => {
    const lines = [
      'User-Agent: Mozilla/5.0 (X11)',
      'HOST:\tGO.localhost.:3000 \t',
      'Connection: Keep-Alive',
      'Accept: text/html;q="0.9"',
      'referer:https://news.example/',
      'Accept-Language: de,en;q=0.5',
      'Cookie: a=b; c=d',
      'Sec-Purpose: prefetch',
      'Purpose: preview',
      'X-Purpose: ',
      'X-Moz: prefetch',
      'X-Forwarded-For: 192.0.2.1, 192.0.2.2',
      'X-Forwarded-Proto: https',
      '\r\n',
    ].join('\r\n')
    assert.deepEqual(read(`GET /a/b%20c?d=e&f HTTP/1.1\r\n${lines}`), {
      target: { host: 'go.localhost', path: '/a/b%20c', query: 'd=e&f' },
      headers: {
        'user-agent': 'Mozilla/5.0 (X11)',
        referer: 'https://news.example/',
        'accept-language': 'de,en;q=0.5',
        cookie: 'a=b; c=d',
        'sec-purpose': 'prefetch',
        purpose: 'preview',
        'x-purpose': '',
        'x-moz': 'prefetch',
        'x-forwarded-for': '192.0.2.1, 192.0.2.2',
        'x-forwarded-proto': 'https',
      },
    })
  })

  test('reads requests for different hosts one after the other', () => {
    for (const host of ['a.example', 'b.example', 'a.example', 'no/host', 'aa.example']) {
      const expected = host === 'no/host' ? undefined : host
      assert.equal(read(visit(`Host: ${host}\r\n`))?.target.host, expected)
    }
  })

  const refused: Readonly<Record<string, string>> = {
    'an empty buffer': '',
    'only empty lines': '\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n',
    'half a request': visit(HOST).slice(0, -2),
    'two requests': visit(HOST) + visit(HOST),
    'a body after the head': `${visit(HOST)}body`,
    'a body that ends like a head': `${visit(HOST)}body\r\n\r\n`,
    'another method': visit(HOST).replace('GET', 'PUT'),
    'a method in small letters': visit(HOST).replace('GET', 'get'),
    'HTTP/1.0': visit(HOST).replace('1.1', '1.0'),
    'an absolute target': visit(HOST, 'http://go.localhost/key'),
    'a fragment': visit(HOST, '/key#part'),
    'a byte outside ASCII in the target': visit(HOST, '/k\xe9y'),
    'two spaces before the version': visit(HOST, '/key '),
    'no Host': visit('A: b\r\n'),
    'an empty Host': visit('Host:\r\n'),
    'two Hosts': visit(HOST + HOST),
    'a header with a space before its colon': visit(`${HOST}A : b\r\n`),
    'a folded header': visit(`${HOST}A: b\r\n c\r\n`),
    'a header without a name': visit(`${HOST}: b\r\n`),
    'a header without a colon': visit(`${HOST}A\r\n`),
    'a line that ends with LF': visit(`${HOST}A: b\nC: d\r\n`),
    'a line that ends with CR': visit(`${HOST}A: b\rC: d\r\n`),
    'a NUL in a header': visit(`${HOST}A: b\0\r\n`),
    'a DEL in a header': visit(`${HOST}A: b\x7f\r\n`),
    'a byte outside ASCII in a header': visit(`${HOST}A: \xe9\r\n`),
    'Content-Length': visit(`${HOST}content-LENGTH: 0\r\n`),
    'Transfer-Encoding': visit(`${HOST}Transfer-Encoding: identity\r\n`),
    Upgrade: visit(`${HOST}Upgrade: h2c\r\n`),
    Expect: visit(`${HOST}Expect: 100-continue\r\n`),
    'Connection: close': visit(`${HOST}Connection: close\r\n`),
    'two Connections': visit(`${HOST}Connection: keep-alive\r\nConnection: keep-alive\r\n`),
    'Proxy-Connection': visit(`${HOST}Proxy-Connection: close\r\n`),
    'a header that matters, twice': visit(`${HOST}User-Agent: a\r\nUser-Agent: a\r\n`),
    'more than 100 headers': visit(HOST + 'a:\r\n'.repeat(100)),
    'more than 8 KiB': visit(`${HOST}A: ${'b'.repeat(8_200)}\r\n`),
  }
  for (const [what, text] of Object.entries(refused)) {
    test(`refuses ${what}`, () => assert.equal(read(text), undefined))
  }
})
