import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { preparedLink } from '../../test/redirect/prepared-links.ts'
import { ruleVisitor } from '../../test/redirect/rule-visitors.ts'
import { cases } from '../../test/support/properties.ts'
import { decide, takeLabel, type Visit } from './decide.ts'

const FACE = '😀'
const NOW_MS = Date.UTC(2026, 5, 1)

const HOST = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}
const HOST_WITH_FALLBACKS = {
  keyspaceId: 1,
  notFoundUrl: 'https://domain.example/not-found',
  expiredUrl: 'https://domain.example/expired',
  hstsMaxAge: null,
  settings: null,
}
const LINK = preparedLink()
const EXPIRED = preparedLink({ expiresAtMs: NOW_MS })
const EXPIRED_WITH_URL = preparedLink({
  expiresAtMs: NOW_MS - 1,
  expiredRedirectUrl: 'https://link.example/expired',
})
const PROTECTED = preparedLink({
  password: { sealed: 'sealed_x', linkId: 'link', workspaceId: 'workspace' },
})
const APP = preparedLink({ ios: 'https://example.com/ios', android: 'https://example.com/android' })

const VISIT: Visit = {
  host: HOST,
  isRoot: false,
  path: undefined,
  link: LINK,
  sets: [],
  device: 'other',
  query: '',
  labelParameter: null,
  knowsPassword: false,
  visitorOf: ({ query }, label) => ruleVisitor({ query, label }),
}

describe('decide', () => {
  const table: [string, Partial<Visit>, { kind: string; [detail: string]: unknown }][] = [
    ['an unknown host, even with a link', { host: undefined }, { kind: 'unknown-host' }],
    ['the root of an unknown host', { host: undefined, isRoot: true }, { kind: 'unknown-host' }],
    ['the root', { isRoot: true, link: undefined }, { kind: 'not-found' }],
    [
      'the root of a domain with a not_found_url',
      { isRoot: true, link: undefined, host: HOST_WITH_FALLBACKS },
      { kind: 'fallback', location: 'https://domain.example/not-found' },
    ],
    ['an unknown key', { link: undefined }, { kind: 'not-found' }],
    [
      'an unknown key of a domain with a not_found_url, to which the query is not appended',
      { link: undefined, host: HOST_WITH_FALLBACKS, query: 'a=1' },
      { kind: 'fallback', location: 'https://domain.example/not-found' },
    ],
    [
      'a visit by a tracked QR code, whose mark is not passed to the destination',
      { query: 'a=1&qr=1&b' },
      { kind: 'redirect', link: LINK, location: `${LINK.url}?a=1&b` },
    ],
    [
      'a visit with only the QR mark',
      { query: 'qr=1' },
      { kind: 'redirect', link: LINK, location: LINK.url },
    ],
    [
      'a parameter that only resembles the QR mark',
      { query: 'qr=10' },
      { kind: 'redirect', link: LINK, location: `${LINK.url}?qr=10` },
    ],
    [
      'a link at the moment it expires',
      { link: EXPIRED },
      { kind: 'expired', expiredAtMs: NOW_MS },
    ],
    [
      'an expired link of a domain with an expired_url',
      { link: EXPIRED, host: HOST_WITH_FALLBACKS },
      { kind: 'fallback', location: 'https://domain.example/expired' },
    ],
    [
      'an expired link with its own expired URL, which precedes the domain’s',
      { link: EXPIRED_WITH_URL, host: HOST_WITH_FALLBACKS },
      { kind: 'fallback', location: 'https://link.example/expired' },
    ],
    [
      'an expired link with a password, which is no longer requested',
      { link: { ...PROTECTED, traits: { ...PROTECTED.traits, expiresAtMs: NOW_MS } } },
      { kind: 'expired' },
    ],
    [
      'a link one millisecond before it expires',
      { link: preparedLink({ expiresAtMs: NOW_MS + 1 }) },
      { kind: 'redirect', location: 'https://example.com/web' },
    ],
    [
      'a link with a password',
      { link: PROTECTED },
      { kind: 'ask-password', password: { sealed: 'sealed_x' } },
    ],
    [
      'a link with a password, to a visitor who has entered it',
      { link: PROTECTED, knowsPassword: true },
      { kind: 'redirect', location: 'https://example.com/web' },
    ],
    [
      'an iPhone',
      { link: APP, device: 'ios' },
      { kind: 'redirect', location: 'https://example.com/ios' },
    ],
    [
      'an Android device',
      { link: APP, device: 'android' },
      { kind: 'redirect', location: 'https://example.com/android' },
    ],
    ['another device', { link: APP }, { kind: 'redirect', location: 'https://example.com/web' }],
    [
      'an iPhone at a link without an iOS URL',
      { device: 'ios' },
      { kind: 'redirect', location: 'https://example.com/web' },
    ],
    [
      'a link with the visitor’s query',
      { query: 'a=1' },
      { kind: 'redirect', location: 'https://example.com/web?a=1' },
    ],
  ]
  for (const [what, visit, expected] of table) {
    test(`returns ${expected.kind} for ${what}`, () =>
      assert.partialDeepStrictEqual(decide({ ...VISIT, ...visit }, NOW_MS), expected))
  }
})

describe('takeLabel', () => {
  for (const [query, label, rest] of [
    ['', '', ''],
    ['a=1', '', 'a=1'],
    ['via=newsletter', 'newsletter', ''],
    ['a=1&via=newsletter&b', 'newsletter', 'a=1&b'],
    ['via=a&via=b&c=%zz', 'a', 'c=%zz'],
    ['via', '', ''],
    ['via=', '', ''],
    ['viable=1&trivia=2', '', 'viable=1&trivia=2'],
    ['VIA=a', '', 'VIA=a'],
    ['%76ia=a', '', '%76ia=a'],
    ['via=spring+sale', 'spring sale', ''],
    ['via=%20%20x%20', 'x', ''],
    ['via=Gr%C3%B6%C3%9Fe', 'Größe', ''],
    ['via=a%00b', '', ''],
    ['via=a%0Ab&a=1', '', 'a=1'],
    ['via=%C3', '', ''],
    ['via=%', '', ''],
    [`via=${'x'.repeat(81)}`, 'x'.repeat(80), ''],
    [`via=${'x'.repeat(79)}${encodeURIComponent(FACE)}`, 'x'.repeat(79), ''],
    [`via=${'x'.repeat(79)}%20y`, 'x'.repeat(79), ''],
  ] as const) {
    test(`reads ${JSON.stringify(label)} from "${query.slice(0, 40)}"`, () => {
      assert.deepEqual(takeLabel(query, 'via'), { label, query: rest })
    })
  }

  test('takes nothing where labels are off', () => {
    assert.deepEqual(takeLabel('via=a&b', null), { label: '', query: 'via=a&b' })
  })

  test('returns a label that fits into a click, and leaves every other parameter as it was', () => {
    const text = fc.string({ unit: 'binary', maxLength: 100 })
    const other = fc.string({ unit: fc.constantFrom('v', 'i', 'a', '=', '%', '4', 'x') })
    fc.assert(
      fc.property(text, fc.array(other), fc.nat(), (value, others, place) => {
        const texts = [...others]
        texts.splice(
          place % (texts.length + 1),
          0,
          `via=${encodeURIComponent(value.toWellFormed())}`,
        )
        const { label, query } = takeLabel(texts.join('&'), 'via')
        assert.ok(label.isWellFormed() && Buffer.byteLength(label) <= 240)
        const isLabel = (each: string) => each === 'via' || each.startsWith('via=')
        assert.equal(query, texts.filter((each) => !isLabel(each)).join('&'))
      }),
      cases(300),
    )
  })
})
