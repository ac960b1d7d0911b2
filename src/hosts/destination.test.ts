import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faultText } from '@terse/contract/faults'
import fc from 'fast-check'
import { anyCharacter, cases } from '../../test/support/properties.ts'
import { hostThatCouldLoop, parseDestination } from './destination.ts'

const APP_SCHEMES = ['myapp', 'javascript', 'data', 'file']

describe('parseDestination', () => {
  const accepted: [string, string][] = [
    ['https://example.com', 'https://example.com/'],
    ['HTTP://Example.COM:80/A?b=C#d', 'http://example.com/A?b=C#d'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    [
      'https://münchen.example/straße?q=ü#ü',
      'https://xn--mnchen-3ya.example/stra%C3%9Fe?q=%C3%BC#%C3%BC',
    ],
    ['https://example.com/a b', 'https://example.com/a%20b'],
    ['https://example.com/?a={b|c}^`', 'https://example.com/?a={b|c}^`'],
    ['https://example.com/\r\nX-Injected: 1', 'https://example.com/X-Injected:%201'],
    ['https://[::1]/', 'https://[::1]/'],
    ['mailto:a@example.com?subject=Hi there', 'mailto:a@example.com?subject=Hi%20there'],
    ['tel:+49-30-1234', 'tel:+49-30-1234'],
    ['SMS:+4930123?body=ü', 'sms:+4930123?body=%C3%BC'],
    [`https://example.com/${'a'.repeat(8_172)}`, `https://example.com/${'a'.repeat(8_172)}`],
  ]
  for (const [text, stored] of accepted) {
    test(`stores ${JSON.stringify(text.slice(0, 60))} as ${stored.slice(0, 60)}`, () =>
      assert.deepEqual(parseDestination(text), { value: stored }))
  }

  const refused: [string, RegExp][] = [
    ['', /absolute URL/],
    ['example.com', /absolute URL/],
    ['/path', /absolute URL/],
    ['//example.com', /absolute URL/],
    ['https://', /absolute URL/],
    ['https://exa mple.com', /absolute URL/],
    ['https://example.com:99999', /absolute URL/],
    ['ftp://example.com', /must begin with http:, https:, mailto:, tel:, sms:$/],
    ['javascript:alert(1)', /must begin with/],
    ['java\nscript:alert(1)', /must begin with/],
    [' javascript:alert(1)', /must begin with/],
    ['JavaScript:alert(1)', /must begin with/],
    ['data:text/html,x', /must begin with/],
    ['vbscript:x', /must begin with/],
    ['file:///etc/passwd', /must begin with/],
    ['blob:https://example.com/1', /must begin with/],
    ['about:blank', /must begin with/],
    ['myapp://open', /must begin with/],
    ['mailto:', /address after mailto:/],
    ['tel:?x', /address after tel:/],
    ['https://user@example.com', /user name/],
    ['https://:secret@example.com', /user name/],
    [`https://example.com/${'a'.repeat(8_173)}`, /at most 8192/],
    [`https://example.com/${'ü'.repeat(2_000)}`, /at most 8192/],
  ]
  for (const [text, fault] of refused) {
    test(`refuses ${JSON.stringify(text.slice(0, 60))}`, () => {
      const parsed = parseDestination(text)
      assert.ok('fault' in parsed, JSON.stringify(parsed))
      assert.match(faultText(parsed.fault), fault)
    })
  }

  test('accepts the operator’s schemes, except those that run code or read files', () => {
    assert.deepEqual(parseDestination('myapp://open/1', APP_SCHEMES), { value: 'myapp://open/1' })
    assert.deepEqual(parseDestination('https://a.example/', APP_SCHEMES), {
      value: 'https://a.example/',
    })
    for (const text of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'other:x',
    ]) {
      assert.ok('fault' in parseDestination(text, APP_SCHEMES), text)
    }
  })

  test('stores nothing that could split a header, for any input', () => {
    const beginning = fc.constantFrom('https://example.com/', 'https://', 'myapp://', 'myapp:', '')
    fc.assert(
      fc.property(beginning, fc.string({ unit: anyCharacter }), (start, rest) => {
        const parsed = parseDestination(start + rest, APP_SCHEMES)
        if ('fault' in parsed) return
        assert.match(parsed.value, /^[\x20-\x7e]+$/)
        assert.deepEqual(parseDestination(parsed.value, APP_SCHEMES), parsed)
      }),
      cases(200),
    )
  })
})

describe('hostThatCouldLoop', () => {
  const rule = { host: 'localhost', ports: new Set([80, 443, 3000]) }
  const table: [string, string | undefined][] = [
    ['https://go.example.com/a', 'go.example.com'],
    ['http://go.example.com/a', 'go.example.com'],
    ['http://go.example.com:3000/a', 'go.example.com'],
    ['https://go.example.com./a', 'go.example.com'],
    ['http://127.0.0.1:3000/a', 'localhost'],
    ['http://127.8.9.1/a', 'localhost'],
    ['http://0.0.0.0:3000/a', 'localhost'],
    ['http://[::1]:3000/a', 'localhost'],
    ['http://[::]:3000/a', 'localhost'],
    ['http://[::ffff:127.0.0.1]:3000/a', 'localhost'],
    ['http://127.0.0.1:8080/a', undefined],
    ['http://198.51.100.7:3000/a', '198.51.100.7'],
    ['http://go.example.com:8080/a', undefined],
    ['myapp://go.example.com/a', undefined],
  ]
  for (const [destination, host] of table) {
    test(`returns ${host ?? 'no host'} for ${destination}`, () =>
      assert.equal(hostThatCouldLoop(new URL(destination).href, rule), host))
  }
})
