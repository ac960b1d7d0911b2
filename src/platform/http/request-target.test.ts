import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import { parseRequestTarget, type RequestTarget } from './request-target.ts'

const HOST = ['User-Agent', 'test', 'hOST', 'Go.Example:3000']

describe('parseRequestTarget', () => {
  const read: [string, RequestTarget][] = [
    ['/', { host: 'go.example', path: '/', query: '' }],
    ['/a/b?c=d', { host: 'go.example', path: '/a/b', query: 'c=d' }],
    ['/a?', { host: 'go.example', path: '/a', query: '' }],
    ['/a?b?c', { host: 'go.example', path: '/a', query: 'b?c' }],
    ['/%41/?q=%20', { host: 'go.example', path: '/%41/', query: 'q=%20' }],
    ['//other.example/a', { host: 'go.example', path: '//other.example/a', query: '' }],
    ['/a#b?c', { host: 'go.example', path: '/a', query: '' }],
    ['/../a', { host: 'go.example', path: '/../a', query: '' }],
    ['http://other.example', { host: 'other.example', path: '/', query: '' }],
    ['HTTPS://Other.Example:443/a?b', { host: 'other.example', path: '/a', query: 'b' }],
    ['http://other.example?b', { host: 'other.example', path: '/', query: 'b' }],
    ['http://[::1]:3000/a', { host: '[::1]', path: '/a', query: '' }],
  ]
  for (const [target, expected] of read) {
    test(`parses ${target}`, () => assert.deepEqual(parseRequestTarget(target, HOST), expected))
  }

  const refused: [string, string, string[]][] = [
    ['no Host', '/a', ['User-Agent', 'test']],
    ['no Host beside an absolute target', 'http://go.example/a', []],
    ['two Hosts', '/a', ['Host', 'a.example', 'host', 'b.example']],
    ['the same Host twice', '/a', ['Host', 'a.example', 'Host', 'a.example']],
    ['an empty Host', '/a', ['Host', '']],
    ['an invalid Host', '/a', ['Host', 'a@b/x']],
    ['an asterisk', '*', HOST],
    ['an empty target', '', HOST],
    ['a target without a slash', 'a', HOST],
    ['another scheme', 'ftp://go.example/a', HOST],
    ['an absolute target without a host', 'http:///a', HOST],
    ['an absolute target with a user', 'http://u@go.example/a', HOST],
    ['an authority', 'go.example:443', HOST],
  ]
  for (const [what, target, rawHeaders] of refused) {
    test(`refuses ${what}`, () => assert.equal(parseRequestTarget(target, rawHeaders), undefined))
  }

  test('returns a path and a query that together equal the target', () => {
    const text = fc.string({ unit: fc.constantFrom(...'aB/%?&=.~:@é') })
    fc.assert(
      fc.property(text, (rest) => {
        const parsed = parseRequestTarget(`/${rest}`, HOST)
        assert.ok(parsed)
        assert.match(parsed.path, /^\/[^?]*$/)
        const marked = rest.includes('?') ? `${parsed.path}?${parsed.query}` : parsed.path
        assert.equal(marked, `/${rest}`)
      }),
      cases(300),
    )
  })
})

describe('parseRequestTarget of a Host header', () => {
  const hostOf = (header: string) => parseRequestTarget('/', ['Host', header])?.host

  const read: [string, string][] = [
    ['go.example.com', 'go.example.com'],
    ['GO.Example.COM', 'go.example.com'],
    ['go.example.com.', 'go.example.com'],
    ['go.example.com:3000', 'go.example.com'],
    ['go.example.com.:3000', 'go.example.com'],
    ['go.example.com:', 'go.example.com'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['127.0.0.1:80', '127.0.0.1'],
    ['[::1]:80', '[::1]'],
    ['[2001:DB8::1]', '[2001:db8::1]'],
  ]
  for (const [header, host] of read) {
    test(`parses ${header}`, () => assert.equal(hostOf(header), host))
  }

  const refused = [
    '',
    '.',
    ':80',
    'a b',
    'a@b',
    'a/b',
    'a\\b',
    'a?b',
    'a#b',
    'a:b',
    'a:80:80',
    '<a>',
    "a'b",
    'münchen.example',
    '[::1',
    '::1',
    'a,b',
    'a%2eb',
    'a:123456',
  ]
  for (const header of refused) {
    test(`refuses "${header}"`, () => assert.equal(hostOf(header), undefined))
  }
})
