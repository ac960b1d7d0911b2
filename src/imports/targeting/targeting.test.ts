import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  dubTargeting,
  rebrandlyRuleNames,
  rebrandlyTargeting,
  shortIoTargeting,
  sinkTargeting,
} from './peer-targeting.ts'
import {
  type RedirectRule,
  redirectRuleOf,
  shlinkTargeting,
  withTakenDevices,
} from './shlink-targeting.ts'
import type { Targeting } from './targeting.ts'

const A = 'https://a.example/'
const B = 'https://b.example/'
const NONE = { ios: null, android: null }
const NOW_MS = Date.UTC(2026, 5, 1)
const LATER = '2026-07-01T00:00:00Z'
const VARIANTS = [
  { url: A, percentage: 50 },
  { url: B, percentage: 50 },
]

const shlink = (...conditions: RedirectRule['conditions']) =>
  shlinkTargeting({ redirectRules: [{ longUrl: A, priority: 1, conditions }] })
const rebrandly = (property: string, operator: string, values: readonly string[]) =>
  rebrandlyTargeting({
    routing: { rules: [{ destination: A, condition: { and: [{ property, operator, values }] } }] },
  })
const manyCountries = Object.fromEntries(
  ['DE', 'FR', 'JP', ...Array.from({ length: 60 }, () => '')].map((code, index) => [
    code || `X${index}`,
    A,
  ]),
)

/** What cannot be carried over, with the number of rules that are made, what is kept, and the sentence. */
const LEFT: readonly (readonly [
  what: string,
  targeting: Targeting,
  rules: number,
  rest: readonly string[],
  note: RegExp,
])[] = [
  [
    'an unknown country',
    dubTargeting({ ...NONE, geo: { UK: A, fr: A } }, NOW_MS),
    1,
    ['geo'],
    /"UK" at Dub is no country/,
  ],
  [
    'countries that are no list',
    sinkTargeting(NONE, 'DE'),
    0,
    ['geo'],
    /by country at Sink cannot be read/,
  ],
  ['codes of no country', sinkTargeting(NONE, manyCountries), 1, ['geo'], /"X62" at Sink/],
  [
    'a test that has ended',
    dubTargeting(
      { ...NONE, testVariants: VARIANTS, testCompletedAt: '2026-05-01T00:00:00Z' },
      NOW_MS,
    ),
    0,
    ['testVariants', 'testCompletedAt'],
    /has ended/,
  ],
  [
    'a test without an end',
    dubTargeting({ ...NONE, testVariants: VARIANTS }, NOW_MS),
    0,
    ['testVariants'],
    /has no end/,
  ],
  [
    'variants without shares',
    dubTargeting(
      { ...NONE, testVariants: [{ url: A }, { url: B }], testCompletedAt: LATER },
      NOW_MS,
    ),
    0,
    ['testVariants', 'testCompletedAt'],
    /cannot be read/,
  ],
  [
    'the winner of a test',
    dubTargeting({ ...NONE, testVariants: VARIANTS, testCompletedAt: LATER }, NOW_MS),
    1,
    [],
    /Terse chooses no winner/,
  ],
  [
    'a region that has no code',
    shortIoTargeting({
      ...NONE,
      regions: [
        { country: 'US', region: 'California', originalURL: A },
        { country: 'US', region: 'CA', originalURL: A },
      ],
    }),
    1,
    ['regions'],
    /region "US California" at Short.io: it is no code by ISO 3166-2/,
  ],
  [
    'a code of Short.io',
    shortIoTargeting({
      ...NONE,
      countries: [
        { country: 'QF', originalURL: A },
        { country: 'XK', originalURL: A },
      ],
    }),
    1,
    ['countries'],
    /"QF" at Short.io is no country/,
  ],
  [
    'an answer of another form',
    shortIoTargeting({ ...NONE, countries: { DE: A } }),
    0,
    ['countries'],
    /cannot be read/,
  ],
  [
    'a split',
    shortIoTargeting({ ...NONE, splitURL: A, splitPercent: 30 }),
    0,
    ['splitURL', 'splitPercent'],
    /whose share/,
  ],
  [
    'a city without a name',
    shlink({ type: 'geolocation-city-name', matchValue: ' ' }),
    0,
    ['redirectRules'],
    /no condition like geolocation-city-name/,
  ],
  ['a rule without conditions', shlink(), 0, ['redirectRules'], /never matched/],
  [
    'a parameter without a value',
    shlink({ type: 'query-param', matchKey: 'a', matchValue: null }),
    0,
    ['redirectRules'],
    /"a" has no value/,
  ],
  [
    'a parameter without a name',
    shlink({ type: 'valueless-query-param', matchValue: 'a' }),
    0,
    ['redirectRules'],
    /names no parameter/,
  ],
  [
    'a date that is none',
    shlink({ type: 'before-date', matchValue: 'soon' }),
    0,
    ['redirectRules'],
    /before-date "soon"/,
  ],
  [
    'an unknown type',
    shlink({ type: 'moon', matchValue: 'full' }),
    0,
    ['redirectRules'],
    /moon "full"/,
  ],
  [
    'an address that is none',
    shlink({ type: 'ip-address', matchValue: '1.2.3' }),
    0,
    ['redirectRules'],
    /ip-address "1.2.3"/,
  ],
  [
    'dates without time between them',
    shlink(
      { type: 'before-date', matchValue: '2026-01-01T00:00:00Z' },
      { type: 'after-date', matchValue: LATER },
    ),
    0,
    ['redirectRules'],
    /leave no time/,
  ],
  [
    'two devices',
    shlink({ type: 'device', matchValue: 'ios' }, { type: 'device', matchValue: 'android' }),
    0,
    ['redirectRules'],
    /no visitor meets both/,
  ],
  [
    'three values of parameters',
    shlink(
      ...['a', 'b', 'c'].map((matchKey) => ({ type: 'query-param', matchKey, matchValue: '1' })),
    ),
    0,
    ['redirectRules'],
    /more than two/,
  ],
  [
    'a property of Rebrandly',
    rebrandly('req.weather', 'in', ['sun']),
    0,
    ['routing'],
    /"req.weather" is unknown/,
  ],
  [
    'an operator of Rebrandly',
    rebrandly('req.country', 'like', ['DE']),
    0,
    ['routing'],
    /"req.country" is unknown/,
  ],
  [
    'a value of Rebrandly',
    rebrandly('req.country', 'in', ['DE', 'Europe']),
    0,
    ['routing'],
    /"req.country" is unknown/,
  ],
]

describe('targeting that cannot be carried over', () => {
  for (const [what, { rules, rest, notes }, count, kept, note] of LEFT) {
    test(`reports ${what}, and keeps it`, () => {
      assert.equal(rules.length, count)
      assert.deepEqual(Object.keys(rest), kept)
      assert.match(notes.join('\n'), note)
    })
  }
})

describe('targeting', () => {
  test('has one rule for the countries of one destination', () => {
    const { rules, rest, notes } = dubTargeting({ ...NONE, geo: { DE: A, FR: B, at: A } }, NOW_MS)
    assert.deepEqual(rules, [
      { id: 'de', when: { country: ['DE', 'AT'] }, then: { url: A } },
      { id: 'fr', when: { country: ['FR'] }, then: { url: B } },
    ])
    assert.deepEqual([rest, notes], [{}, []])
  })

  test('leaves destinations for devices in their fields where there are no rules', () => {
    const { ios, android, rules } = dubTargeting({ ios: A, android: B, geo: {} }, NOW_MS)
    assert.deepEqual([ios, android, rules], [A, B, []])
  })

  test('has at most 50 rules, and keeps the countries beyond', () => {
    const geo = Object.fromEntries(
      'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU'
        .split(' ')
        .map((code) => [code, `https://${code.toLowerCase()}.example/`]),
    )
    const { rules, rest, notes } = dubTargeting({ ios: A, android: B, geo }, NOW_MS)
    assert.equal(rules.length, 49)
    assert.deepEqual(Object.keys(rest.geo as object), ['CO', 'CR', 'CU'])
    assert.match(notes.join('\n'), /CO at Dub is left out, as a link has at most 50 rules/)
  })

  test("takes the destinations of Shlink's devices before it had rules", () => {
    const { ios, android, rules, rest } = shlinkTargeting({
      deviceLongUrls: { ios: A, android: null, desktop: B },
    })
    assert.deepEqual([ios, android, rest], [A, null, {}])
    assert.deepEqual(rules, [{ id: 'desktop', when: { device: ['desktop'] }, then: { url: B } }])
  })

  test("reads Rebrandly's rules wherever they are", () => {
    const route = (property: string, operator: string, ...values: string[]) => ({
      destination: A,
      condition: { and: [{ property, operator, values }] },
    })
    const values = {
      title: 'A title',
      routing: { rules: [route('req.device.os', 'in', 'iOS'), route('country', 'not in', 'de')] },
    }
    assert.deepEqual(rebrandlyRuleNames(values), ['routing'])
    const { rules, rest } = rebrandlyTargeting(values)
    assert.deepEqual(
      rules.map(({ when }) => when),
      [{ os: ['ios'] }, { not: { country: ['DE'] } }],
    )
    assert.deepEqual(rest, {})
  })
})

describe('redirect rules of Shlink of which an import took those for devices', () => {
  const rule = (priority: number): RedirectRule => {
    return { longUrl: B, priority, conditions: [{ type: 'language', matchValue: 'de' }] }
  }
  const CASES = [
    ['behind the others', [1, 2], { ios: A, android: B }, ['language', 'language'], true],
    ['before the others', [2], { ios: A, android: null }, ['ios', 'language'], true],
    ['between them', [1, 3], { ios: null, android: A }, ['language', 'android', 'language'], true],
    ['both before', [3], { ios: A, android: B }, ['ios', 'android', 'language'], true],
    ['one of two', [2], { ios: A, android: B }, ['ios', 'android', 'language'], false],
    ['none that was taken', [2], { ios: null, android: null }, ['language'], true],
  ] as const
  for (const [where, priorities, devices, expected, isSure] of CASES) {
    test(`get them back ${where}`, () => {
      const found = withTakenDevices(priorities.map(rule), devices)
      const kinds = found.rules.map(({ conditions: [{ type, matchValue } = { type: '' }] }) =>
        type === 'device' ? matchValue : type,
      )
      assert.deepEqual(kinds, expected)
      assert.equal(found.isSure, isSure)
    })
  }
})

describe('a rule in the form of Shlink', () => {
  test('has all of its conditions', () => {
    const query = [{ name: 'a', equals: '1' }]
    const when = {
      device: ['phone', 'tablet'] as const,
      query,
      any: [{ query: [{ name: 'b', equals: '' }] }],
    }
    assert.deepEqual(
      redirectRuleOf({ when: { ...when, device: [...when.device] }, then: { url: A } }),
      {
        longUrl: A,
        conditions: [
          { type: 'device', matchKey: null, matchValue: 'mobile' },
          { type: 'query-param', matchKey: 'a', matchValue: '1' },
          { type: 'valueless-query-param', matchKey: 'b', matchValue: null },
        ],
      },
    )
  })

  test('is undefined where Shlink has no form for it', () => {
    const split = [
      { name: 'A', url: A, weight: 1 },
      { name: 'B', url: B, weight: 1 },
    ]
    assert.equal(redirectRuleOf({ when: { country: ['DE'] }, then: { split } }), undefined)
    for (const when of [
      {},
      { country: ['DE', 'AT'] },
      { country: ['EU'] },
      { qr: true },
      { country: ['DE'], label: ['flyer'] },
      { country: ['DE'], not: { country: ['AT'] } },
      { time: [{ weekdays: ['mon' as const] }] },
      { query: [{ name: 'a', contains: '1' }] },
    ]) {
      assert.equal(redirectRuleOf({ when, then: { url: A } }), undefined, JSON.stringify(when))
    }
  })
})
