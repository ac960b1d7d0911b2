import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faultText } from '@terse/contract/faults'
import fc from 'fast-check'
import { cases } from '../../test/support/properties.ts'
import { displayHost, formatHost, hostFields, parseHost } from './host.ts'

const LABEL_MAX = 'a'.repeat(63)
/** Three labels of 63 characters with their dots, and 61 more characters, make up 253. */
const HOST_MAX = `${LABEL_MAX}.${LABEL_MAX}.${LABEL_MAX}.${'b'.repeat(61)}`

describe('parseHost', () => {
  const accepted: [string, string][] = [
    ['go.example.com', 'go.example.com'],
    ['GO.Example.COM', 'go.example.com'],
    ['go.example.com.', 'go.example.com'],
    ['example.com', 'example.com'],
    ['go.acme.test', 'go.acme.test'],
    ['acme.test', 'acme.test'],
    ['go.localhost', 'go.localhost'],
    ['example.co.uk', 'example.co.uk'],
    ['me.github.io', 'me.github.io'],
    ['1.example.com', '1.example.com'],
    ['München.example', 'xn--mnchen-3ya.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['XN--MNCHEN-3YA.example', 'xn--mnchen-3ya.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['go。example。com', 'go.example.com'],
    ['ｇｏ.example.com', 'go.example.com'],
    [`${LABEL_MAX}.example.com`, `${LABEL_MAX}.example.com`],
    [HOST_MAX, HOST_MAX],
  ]
  for (const [text, host] of accepted) {
    test(`accepts ${text.slice(0, 40)}`, () => assert.deepEqual(parseHost(text), { value: host }))
  }

  const refused: [string, RegExp][] = [
    ['', /host name/],
    ['.', /host name/],
    ['localhost', /with a dot/],
    ['com', /with a dot/],
    ['co.uk', /public suffix/],
    ['github.io', /public suffix/],
    ['127.0.0.1', /not an address/],
    ['127.1', /not an address/],
    ['0x7f.1', /not an address/],
    ['[::1]', /without scheme, port or path/],
    ['go.example.com:3000', /without scheme, port or path/],
    ['https://go.example.com', /without scheme, port or path/],
    ['go.example.com/x', /without scheme, port or path/],
    ['user@go.example.com', /without scheme, port or path/],
    ['go example.com', /without scheme, port or path/],
    ['go.exa%6dple.com', /without scheme, port or path/],
    ['go_1.example.com', /without scheme, port or path/],
    ['*.example.com', /without scheme, port or path/],
    ['go\r\n.example.com', /without scheme, port or path/],
    ['go..example.com', /host name/],
    ['.go.example.com', /host name/],
    ['go.example.com..', /host name/],
    ['-go.example.com', /host name/],
    ['go-.example.com', /host name/],
    [`${LABEL_MAX}a.example.com`, /host name/],
    [`${HOST_MAX}b`, /host name/],
    ['xn--a.example', /host name|cannot be read/],
    ['xn--zzzzzzzzz999.example', /host name|cannot be read/],
    ['a\u202eb.example.com', /host name/],
  ]
  for (const [text, fault] of refused) {
    test(`refuses ${JSON.stringify(text.slice(0, 40))}`, () => {
      const parsed = parseHost(text)
      assert.ok('fault' in parsed, JSON.stringify(parsed))
      assert.match(faultText(parsed.fault), fault)
    })
  }

  test('returns a plain lower-case name that it accepts unchanged, for any input', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'aZ09.-_:/@%ü例。\u00ad\u200d '),
      maxLength: 20,
    })
    fc.assert(
      fc.property(text, (given) => {
        const parsed = parseHost(given)
        if ('fault' in parsed) return
        assert.match(parsed.value, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
        assert.deepEqual(parseHost(parsed.value), parsed)
      }),
      cases(500),
    )
  })
})

describe('formatHost and hostFields', () => {
  const host = 'xn--mnchen-3ya.example'

  test('name an international host in both forms in a sentence', () => {
    assert.equal(formatHost(host), `münchen.example (${host})`)
    assert.equal(formatHost('go.example.com'), 'go.example.com')
  })

  test('name an international host in both forms in a log line', () => {
    assert.deepEqual(hostFields(host), { host, unicodeHost: 'münchen.example' })
    assert.deepEqual(hostFields('go.example.com'), { host: 'go.example.com' })
  })
})

describe('displayHost', () => {
  test('shows an international name in Unicode, and other names unchanged', () => {
    assert.equal(displayHost('xn--mnchen-3ya.example'), 'münchen.example')
    assert.equal(displayHost('go.example.com'), 'go.example.com')
    assert.equal(displayHost('xn--a.example'), 'xn--a.example')
  })
})
