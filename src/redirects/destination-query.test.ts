import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases, webUrl } from '../../test/support/properties.ts'
import { formatParameter, parseQuery, withParameters, withToken } from './destination-query.ts'

/** A stored destination with a visitor’s query applied. */
function visited(destination: string, query: string): string {
  return withParameters(destination, parseQuery(query))
}

/** Text as Node passes it on when its bytes arrived unencoded. */
function raw(text: string): string {
  return Buffer.from(text).toString('latin1')
}

describe('withParameters', () => {
  const table: { what: string; destination: string; query: string; expected: string }[] = [
    {
      what: 'adds to a destination without a query',
      destination: 'https://example.com/',
      query: 'a=1',
      expected: 'https://example.com/?a=1',
    },
    {
      what: 'adds after the existing query',
      destination: 'https://example.com/?a=1',
      query: 'b=2',
      expected: 'https://example.com/?a=1&b=2',
    },
    {
      what: 'replaces every parameter of the same name',
      destination: 'https://example.com/?a=1&b=2&a=3',
      query: 'a=4',
      expected: 'https://example.com/?b=2&a=4',
    },
    {
      what: 'matches names regardless of their encoding',
      destination: 'https://example.com/?utm%5Fsource=x&a+b=1&a%20b=2',
      query: 'utm_source=y&a%20b=3',
      expected: 'https://example.com/?utm_source=y&a%20b=3',
    },
    {
      what: 'matches names that arrived as bytes outside ASCII',
      destination: 'https://example.com/?%C3%BC=1',
      query: raw('ü=2'),
      expected: 'https://example.com/?%C3%BC=2',
    },
    {
      what: 'matches names that are not UTF-8 by their bytes',
      destination: 'https://example.com/?%E0=1&%E1=2&%=3&%zz=4',
      query: '%e0=5&%=6',
      expected: 'https://example.com/?%E1=2&%zz=4&%e0=5&%=6',
    },
    {
      what: 'treats names that differ in letter case as different',
      destination: 'https://example.com/?a=1',
      query: 'A=2',
      expected: 'https://example.com/?a=1&A=2',
    },
    {
      what: 'keeps every repetition of a name',
      destination: 'https://example.com/',
      query: 'a=1&a=2',
      expected: 'https://example.com/?a=1&a=2',
    },
    {
      what: 'keeps the fragment last, even with a question mark in it',
      destination: 'https://example.com/?a=1#/route?b=2',
      query: 'b=3',
      expected: 'https://example.com/?a=1&b=3#/route?b=2',
    },
    {
      what: 'keeps a parameter without a value and one without a name',
      destination: 'https://example.com/?flag&=x',
      query: 'other&=y',
      expected: 'https://example.com/?flag&other&=y',
    },
    {
      what: 'keeps unaffected parameters as they are written',
      destination: 'https://example.com/?q={a|b}^`\\&sig=a%2fb+c%20d%zz==&&x;y&z?&',
      query: 'a=1',
      expected: 'https://example.com/?q={a|b}^`\\&sig=a%2fb+c%20d%zz==&&x;y&z?&&a=1',
    },
    {
      what: 'passes on a malformed percent sign unchanged',
      destination: 'https://example.com/?a=%zz',
      query: 'b=%&%=1',
      expected: 'https://example.com/?a=%zz&b=%&%=1',
    },
    {
      what: 'encodes characters that a header must not contain',
      destination: 'https://example.com/',
      query: `a=${raw('ü')}&b=<">\\{|}^\``,
      expected: 'https://example.com/?a=%C3%BC&b=%3C%22%3E%5C%7B%7C%7D%5E%60',
    },
    {
      what: 'ignores a query that consists of separators',
      destination: 'https://example.com/?a=1&&',
      query: '&&',
      expected: 'https://example.com/?a=1&&',
    },
    {
      what: 'adds to an app address',
      destination: 'myapp://open/1?a=1#x',
      query: 'a=2',
      expected: 'myapp://open/1?a=2#x',
    },
    {
      what: 'adds nothing to a mail address',
      destination: 'mailto:a@example.com?subject=a',
      query: 'fbclid=1',
      expected: 'mailto:a@example.com?subject=a',
    },
    {
      what: 'adds nothing to a number',
      destination: 'tel:+49301234',
      query: 'utm_source=x',
      expected: 'tel:+49301234',
    },
    {
      what: 'replaces the only parameter',
      destination: 'https://example.com/p?a=1#f',
      query: 'a=2',
      expected: 'https://example.com/p?a=2#f',
    },
    {
      what: 'fills an empty query',
      destination: 'https://example.com/?',
      query: 'a=2',
      expected: 'https://example.com/?a=2',
    },
  ]
  for (const { what, destination, query, expected } of table) {
    test(what, () => assert.equal(visited(destination, query), expected))
  }

  test('handles names that are not UTF-8 about as fast as others', () => {
    // CPU time, because a busy machine may interrupt this thread.
    const millisOf = (query: string) => {
      const before = process.threadCpuUsage()
      for (let round = 0; round < 20; round += 1) visited('https://example.com/', query)
      return process.threadCpuUsage(before).user / 1_000
    }
    const length = 16 * 1024
    const plain = millisOf('abc&'.repeat(length / 4))
    const malformed = millisOf('%FF&'.repeat(length / 4))
    assert.ok(malformed < plain * 6 + 20, `${malformed} ms, others ${plain} ms`)
  })

  test('encodes a parameter’s name and value', () => {
    const parameter = formatParameter('utm_campaign', 'a&b=c #1/ü😀')
    assert.equal(
      withParameters('https://example.com/', [parameter]),
      'https://example.com/?utm_campaign=a%26b%3Dc%20%231%2F%C3%BC%F0%9F%98%80',
    )
  })
})

/** A name and the ways to write it; `raw` is how unencoded bytes arrive. */
const NAMES = [
  { name: 'a', spellings: ['a', '%61'], raw: 'a' },
  { name: 'a b', spellings: ['a+b', 'a%20b', '%61+b'], raw: 'a+b' },
  { name: 'ü', spellings: ['%C3%BC', '%c3%bc'], raw: raw('ü') },
  { name: 'utm_source', spellings: ['utm_source', 'utm%5Fsource'], raw: 'utm_source' },
]
const VALUES = ['', '=', '=1', '=%zz', '=%', '=a+b%20c%2fd', '=?/;:@', '==x']

/** Values as stored in a destination, and as a visitor sends them and the destination receives them. */
const STORED_VALUES = [...VALUES, '={|}^`\\']
const SENT_VALUES = [
  ...VALUES.map((value) => ({ sent: value, goesOn: value })),
  { sent: '=<{|}">', goesOn: '=%3C%7B%7C%7D%22%3E' },
  { sent: raw('=é'), goesOn: '=%C3%A9' },
]

const stored = fc
  .tuple(fc.constantFrom(...NAMES), fc.nat(), fc.constantFrom(...STORED_VALUES))
  .map(([{ name, spellings }, at, value]) => ({
    name,
    text: `${spellings[at % spellings.length]}${value}`,
  }))
const separator = fc.constant({ name: '', text: '' })

const sent = fc
  .tuple(fc.constantFrom(...NAMES), fc.boolean(), fc.constantFrom(...SENT_VALUES))
  .map(([{ name, spellings, raw }, isRaw, value]) => ({
    name,
    sent: `${isRaw ? raw : spellings[0]}${value.sent}`,
    goesOn: `${isRaw && name === 'ü' ? '%C3%BC' : isRaw ? raw : spellings[0]}${value.goesOn}`,
  }))

describe('withParameters for any visitor query', () => {
  test('keeps parameters that the visitor does not name byte for byte, and appends the others in order', () => {
    const base = fc.constantFrom('https://example.com/', 'https://example.com/p?', 'myapp://x?')
    const fragment = fc.constantFrom('', '#', '#/f?a=1&b#c')
    const parameters = fc.array(fc.oneof({ weight: 5, arbitrary: stored }, separator))
    fc.assert(
      fc.property(
        base,
        parameters,
        fragment,
        fc.array(sent, { minLength: 1 }),
        (start, have, end, come) => {
          const mark = start.endsWith('?') ? '' : '?'
          const destination = `${start}${mark}${have.map(({ text }) => text).join('&')}${end}`
          const query = come.map((parameter) => parameter.sent).join('&')
          const names = new Set(come.map(({ name }) => name))
          const kept = have.filter(({ name }) => !names.has(name)).map(({ text }) => text)
          const isEmpty = have.every(({ text }) => text === '') && have.length < 2
          const expected = [...(isEmpty ? [] : kept), ...come.map(({ goesOn }) => goesOn)].join('&')
          assert.equal(visited(destination, query), `${start}${mark}${expected}${end}`)
        },
      ),
      cases(150),
    )
  })

  test('returns an address of printable ASCII, for any bytes', () => {
    // A target ends before its first "#", so no query contains one.
    const bytes = fc
      .uint8Array({ minLength: 1 })
      .map((array) => Buffer.from(array).toString('latin1').replaceAll('#', ''))
    fc.assert(
      fc.property(webUrl, bytes, (url, query) => {
        const destination = new URL(url).href
        const location = visited(destination, query)
        assert.match(location, /^[\x21-\x7e]+$/)
        assert.equal(new URL(location).origin, new URL(destination).origin)
        assert.equal(new URL(location).pathname, new URL(destination).pathname)
        assert.equal(new URL(location).hash, new URL(destination).hash)
      }),
      cases(150),
    )
  })
})

describe('withToken', () => {
  const table = [
    ['https://example.com/', 'https://example.com/?tc=T'],
    ['https://example.com/?', 'https://example.com/?tc=T'],
    ['https://example.com/?a=1#part', 'https://example.com/?a=1&tc=T#part'],
    ['https://example.com/#?a', 'https://example.com/?tc=T#?a'],
    ['https://example.com/?tc=old&a=1', 'https://example.com/?a=1&tc=T'],
    ['https://example.com/?%74c=old', 'https://example.com/?tc=T'],
    ['myapp://open', 'myapp://open?tc=T'],
    ['mailto:a@example.com', 'mailto:a@example.com'],
  ] as const
  for (const [destination, expected] of table) {
    test(`sets a token on ${destination}`, () =>
      assert.equal(withToken(destination, 'tc', 'T'), expected))
  }
})
