import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { COUNTRIES, COUNTRY_SETS } from '@terse/contract/countries'
import type { Rule, When } from '@terse/contract/rules'
import fc from 'fast-check'
import { AGENTS, INSTAGRAM, IPAD_CHROME_AS_MAC, MAC_SAFARI } from '../../test/redirect/agents.ts'
import { arbitraryRules, arbitraryVisitor } from '../../test/redirect/arbitrary-rules.ts'
import { preparedLink } from '../../test/redirect/prepared-links.ts'
import { type MadeUpVisitor, ruleVisitor } from '../../test/redirect/rule-visitors.ts'
import { cases } from '../../test/support/properties.ts'
import { parseUserAgent } from '../clicks/index.ts'
import { decide, type Visit } from './decide.ts'
import { compileRules, type Trace } from './rules.ts'

const NOW_MS = Date.UTC(2026, 5, 1)
const HOST = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}
/** The destination of those whom no rule takes, and of the peers' links. */
const U = 'https://u.example/'
const A = 'https://a.example/'
const B = 'https://b.example/'
const G = 'https://g.example/'

const ANDROID_TABLET =
  'Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const CHROMEBOOK =
  'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

type Short = readonly [when: When, to: string | Rule['then']]

const rulesOf = (short: readonly Short[]): Rule[] =>
  short.map(([when, to], index) => ({
    ...{ id: `r${index}`, when },
    // biome-ignore format: one line
    then: typeof to === 'string' ? { url: to } : to,
  }))

/** Decides a visit to a link with rules, as the redirect does. */
function decideBy(rules: readonly Rule[], facts: MadeUpVisitor, trace?: Trace) {
  const link = preparedLink({ url: U, rules: compileRules(rules) })
  const visit = {
    ...{ host: HOST, isRoot: false, link, path: undefined, sets: [], knowsPassword: false },
    device: parseUserAgent(facts.userAgent).device,
    query: facts.query ?? '',
    labelParameter: 'via',
    visitorOf: (_visit: Visit, label: string) => ruleVisitor({ atMs: NOW_MS, ...facts, label }),
  }
  const decision = decide(visit, NOW_MS, trace)
  assert.equal(decision.kind, 'redirect')
  return decision as Extract<typeof decision, { kind: 'redirect' }>
}

const IOS: Short = [{ os: ['ios'] }, A]
const ANDROID: Short = [{ os: ['android'] }, B]
const inUs: Short = [{ country: ['US'] }, G]
const EN_WITH_FOO: Short = [{ language: ['en'], query: [{ name: 'foo', present: true }] }, A]
const EN: Short = [{ language: ['en'] }, B]
const empty: Short = [{ query: [{ name: 'foo', equals: '' }] }, B]
const at = (offset: number) => new Date(NOW_MS + offset).toISOString()

/**
 * The peers' own cases: D of Dub, S of Shlink, K of Sink, as what their importers make of them. `better` says why the
 * result is another than the peer's.
 */
const PEERS: readonly {
  readonly name: string
  readonly rules: readonly Short[]
  readonly visitor: MadeUpVisitor
  readonly to: string
  readonly better?: string
}[] = [
  {
    name: 'D1',
    rules: [IOS, inUs],
    visitor: { userAgent: AGENTS.iPhone, country: 'US' },
    to: A,
  },
  { name: 'D2', rules: [IOS, inUs], visitor: { userAgent: MAC_SAFARI, country: 'US' }, to: G },
  { name: 'D3', rules: [ANDROID], visitor: { userAgent: ANDROID_TABLET }, to: B },
  {
    name: 'D4',
    rules: [IOS],
    visitor: { userAgent: IPAD_CHROME_AS_MAC },
    to: A,
    better: 'the browser says that it runs on iOS; Safari does not',
  },
  { name: 'D4 in Safari', rules: [IOS], visitor: { userAgent: MAC_SAFARI }, to: U },
  { name: 'D5', rules: [inUs], visitor: { country: 'US' }, to: G },
  { name: 'D6', rules: [[{ country: ['GB'] }, G]], visitor: { country: '' }, to: U },
  {
    name: 'D16',
    rules: [],
    visitor: { query: 'redir_url=https://evil.test' },
    to: `${U}?redir_url=https://evil.test`,
    better: 'a visitor chooses no destination',
  },
  { name: 'S2', rules: [EN_WITH_FOO, EN], visitor: { acceptLanguage: 'en-GB' }, to: B },
  {
    name: 'S3',
    rules: [EN_WITH_FOO, EN],
    visitor: { acceptLanguage: 'en', query: 'foo' },
    to: `${A}?foo`,
  },
  {
    name: 'S4',
    rules: [[{ language: ['es'] }, B]],
    visitor: { acceptLanguage: 'en-US,es;q=0.6' },
    to: U,
  },
  {
    name: 'S5',
    rules: [[{ language: ['es'] }, B]],
    visitor: { acceptLanguage: 'en-US,es;q=0.9' },
    to: B,
  },
  { name: 'S6', rules: [[{ language: ['fr-FR'] }, B]], visitor: { acceptLanguage: 'fr' }, to: U },
  { name: 'S7', rules: [[{ language: ['fr'] }, B]], visitor: { acceptLanguage: 'FR_ca' }, to: B },
  { name: 'S8', rules: [EN], visitor: {}, to: U },
  { name: 'S8 with *', rules: [EN], visitor: { acceptLanguage: '*' }, to: U },
  {
    name: 'S9',
    rules: [[{ language: ['zh-TW'] }, B]],
    visitor: { acceptLanguage: 'zh-Hant-TW' },
    to: B,
    better: 'the script of a language is no other language',
  },
  {
    name: 'S10',
    rules: [[{ query: [{ name: 'foo', equals: 'bar' }] }, B]],
    visitor: { query: 'foo=BAR' },
    to: `${U}?foo=BAR`,
  },
  {
    name: 'S10 as a list of PHP',
    rules: [[{ query: [{ name: 'foo', equals: 'bar' }] }, B]],
    visitor: { query: 'foo[]=bar' },
    to: `${U}?foo[]=bar`,
  },
  { name: 'S11', rules: [empty], visitor: { query: 'foo' }, to: `${B}?foo` },
  { name: 'S11 with =', rules: [empty], visitor: { query: 'foo=' }, to: `${B}?foo=` },
  {
    name: 'S12',
    rules: [empty],
    visitor: { query: 'foo=0' },
    to: `${U}?foo=0`,
    better: '0 is a value',
  },
  {
    name: 'S13',
    rules: [[{ address: ['1.2.*.4'] }, B]],
    visitor: { address: '1.2.99.4' },
    to: B,
  },
  {
    name: 'S14',
    rules: [[{ address: ['10.0.0.0/8'] }, B]],
    visitor: { address: '2001:db8::1' },
    to: U,
    better: 'an address of the other version is in no such network',
  },
  { name: 'S15 before', rules: [[{ time: [{ until: at(0) }] }, B]], visitor: {}, to: U },
  {
    name: 'S15 after',
    rules: [[{ time: [{ from: at(0) }] }, B]],
    visitor: {},
    to: B,
    better:
      'a time begins with its first instant, so that two that follow one another leave no gap',
  },
  {
    name: 'S16',
    rules: [[{}, B]],
    visitor: {},
    to: B,
    better:
      'a rule without conditions is for everybody; the importer leaves out those that never match',
  },
  { name: 'S17', rules: [[{ device: ['desktop'] }, B]], visitor: { userAgent: CHROMEBOOK }, to: B },
  { name: 'S18', rules: [inUs], visitor: { country: 'US' }, to: G },
  {
    name: 'S21',
    rules: [[{ os: ['ios'] }, `${A}?x=1`]],
    visitor: { userAgent: AGENTS.iPhone, query: 'x=2' },
    to: `${A}?x=2`,
  },
  {
    name: 'K1',
    rules: [IOS, inUs],
    visitor: { userAgent: AGENTS.iPhone, country: 'US', query: 'a=1' },
    to: `${A}?a=1`,
    better: 'a rule’s destination gets the query like any other',
  },
  { name: 'K2', rules: [IOS, inUs], visitor: { country: 'US', query: 'a=1' }, to: `${G}?a=1` },
]

describe('the rules of peers', () => {
  for (const { name, rules, visitor, to, better } of PEERS) {
    test(`${name}: lead to ${to}${better === undefined ? '' : `, because ${better}`}`, () =>
      assert.equal(decideBy(rulesOf(rules), visitor).location, to))
  }
})

/** Each condition with a visitor whom it takes and one whom it does not. */
const CONDITIONS: readonly [name: string, when: When, taken: MadeUpVisitor, left: MadeUpVisitor][] =
  [
    ['a country of a set', { country: ['EU'] }, { country: 'AT' }, { country: 'CH' }],
    ['a country of the EEA', { country: ['EEA'] }, { country: 'NO' }, { country: 'GB' }],
    ['a continent', { country: ['africa', 'JP'] }, { country: 'NA' }, { country: 'US' }],
    ['a phone', { device: ['phone'] }, { userAgent: AGENTS.iPhone }, { userAgent: AGENTS.iPad }],
    [
      'a tablet',
      { device: ['tablet'] },
      { userAgent: IPAD_CHROME_AS_MAC },
      { userAgent: MAC_SAFARI },
    ],
    ['an iPad', { os: ['ipados'] }, { userAgent: AGENTS.iPad }, { userAgent: AGENTS.iPhone }],
    ['a Mac', { os: ['macos'] }, { userAgent: MAC_SAFARI }, { userAgent: IPAD_CHROME_AS_MAC }],
    ['ChromeOS', { os: ['chromeos'] }, { userAgent: CHROMEBOOK }, { userAgent: AGENTS.android }],
    [
      'a browser',
      { browser: ['safari'] },
      { userAgent: MAC_SAFARI },
      { userAgent: AGENTS.android },
    ],
    ['an app', { browser: ['instagram'] }, { userAgent: INSTAGRAM }, { userAgent: AGENTS.iPhone }],
    ['a bot', { bot: true }, { userAgent: AGENTS.slackbot }, { userAgent: AGENTS.curl }],
    ['a person', { bot: false }, { userAgent: AGENTS.curl }, { userAgent: AGENTS.googlebot }],
    ['a QR code', { qr: true }, { query: 'qr=1' }, { query: 'qr=2' }],
    ['a label', { label: ['news'] }, { query: 'a=1&via=news' }, { query: 'via=newsletter' }],
    [
      'part of a parameter',
      { query: [{ name: 'utm', contains: 'mail' }] },
      { query: 'utm=x&utm=e%2Dmail' },
      { query: 'utm=Mail' },
    ],
    [
      'one of the first 100 parameters',
      { query: [{ name: 'x', present: true }] },
      { query: `${'a&'.repeat(99)}x` },
      { query: `${'a&'.repeat(100)}x` },
    ],
    ['a missing parameter', { query: [{ name: 'x', absent: true }] }, {}, { query: 'x' }],
    [
      'an encoded parameter',
      { query: [{ name: 'größe', equals: 'a b' }] },
      { query: 'gr%C3%B6%C3%9Fe=a+b' },
      { query: 'gr%C3%B6%C3%9Fe=a%2Bb' },
    ],
    [
      'a referrer',
      { referrer: ['heise.de'] },
      { referer: 'https://www.heise.de/news' },
      { referer: 'https://notheise.de/' },
    ],
    ['no referrer', { referrer: ['none'] }, {}, { referer: 'https://heise.de/' }],
    [
      'a network of IPv6',
      { address: ['2001:db8::/33'] },
      { address: '2001:db8:7fff::1' },
      { address: '2001:db8:8000::1' },
    ],
    [
      'a network of IPv4, also in the form of IPv6',
      { address: ['192.0.2.128/25'] },
      { address: '::ffff:192.0.2.200' },
      { address: '192.0.2.127' },
    ],
    [
      'hours of a zone',
      { time: [{ hours: { from: '09:00', until: '17:00' }, zone: 'Europe/Berlin' }] },
      { atMs: Date.parse('2026-03-30T07:00:00Z') },
      { atMs: Date.parse('2026-03-27T07:59:59.999Z') },
    ],
    [
      'hours up to their end',
      { time: [{ hours: { from: '09:00', until: '17:00' }, zone: 'Asia/Kolkata' }] },
      { atMs: Date.parse('2026-03-30T11:29:59Z') },
      { atMs: Date.parse('2026-03-30T11:30:00Z') },
    ],
    [
      'a night, which belongs to the day on which it begins',
      { time: [{ weekdays: ['fri'], hours: { from: '22:00', until: '06:00' } }] },
      { atMs: Date.parse('2026-06-06T05:59:00Z') },
      { atMs: Date.parse('2026-06-05T05:59:00Z') },
    ],
    [
      'a weekday of a zone',
      { time: [{ weekdays: ['mon'], zone: 'Pacific/Auckland' }] },
      { atMs: Date.parse('2026-05-31T12:00:00Z') },
      { atMs: Date.parse('2026-06-01T12:00:00Z') },
    ],
    [
      'a city in any letter case, in its region',
      { city: ['SAN diego'], region: ['us-ca'] },
      { place: { city: 'San Diego', region: 'US-CA' } },
      { place: { city: 'San Diego', region: 'US-TX' } },
    ],
    [
      'none of several',
      { not: { country: ['DE'], os: ['ios'] } },
      { country: 'AT', userAgent: AGENTS.android },
      { country: 'AT', userAgent: AGENTS.iPhone },
    ],
    [
      'one of several groups',
      { any: [{ country: ['DE'], device: ['phone'] }, { qr: true }] },
      { country: 'AT', query: 'qr=1' },
      { country: 'DE', userAgent: MAC_SAFARI },
    ],
  ]

describe('conditions', () => {
  for (const [name, when, taken, left] of CONDITIONS) {
    test(`find ${name}`, () => {
      const rules = rulesOf([[when, A]])
      assert.equal(decideBy(rules, taken).outcome?.rule, 'r0')
      assert.equal(decideBy(rules, left).outcome, undefined)
    })
  }

  test('know 250 countries, each in one continent', () => {
    const continents = [...COUNTRY_SETS].filter(([name]) => name === name.toLowerCase())
    assert.equal(continents.flatMap(([, codes]) => codes).length, 250)
    assert.equal(COUNTRIES.size, 250)
    const names = new Intl.DisplayNames('en', { type: 'region' })
    for (const code of COUNTRIES) assert.notEqual(names.of(code), code)
    assert.equal(COUNTRY_SETS.get('EU')?.length, 27)
    for (const codes of COUNTRY_SETS.values()) assert.ok(codes.every((code) => COUNTRIES.has(code)))
  })
})

describe('destinations of rules', () => {
  const template = 'https://shop.example/{query.sku}/x?from={query.from}#{query.part}'
  const table: [query: string, location: string][] = [
    ['sku=12&from=mail&other=1', 'https://shop.example/12/x?from=mail&other=1#'],
    ['', 'https://shop.example//x?from=#'],
    ['sku=a%2F..%2Fb&part=%C3%BC', 'https://shop.example/a%2F..%2Fb/x?from=#%C3%BC'],
    ['sku=..', 'https://shop.example//x?from=#'],
    ['from=1%26admin%3D1', 'https://shop.example//x?from=1%26admin%3D1#'],
    ['sku=1%0d%0aX:%201', 'https://shop.example/1%0D%0AX%3A%201/x?from=#'],
    ['sku=%ff', 'https://shop.example/%EF%BF%BD/x?from=#'],
  ]
  for (const [query, location] of table) {
    test(`take ${query || 'nothing'} from the query`, () =>
      assert.equal(decideBy(rulesOf([[{}, template]]), { query }).location, location))
  }
})

describe('splits', () => {
  const split = (more: Partial<Rule['then']> = {}): Rule[] =>
    rulesOf([
      [
        {},
        {
          split: [
            { name: 'V1', url: A, weight: 50 },
            { name: 'V2', url: B, weight: 50 },
          ],
          ...more,
        },
      ],
    ])
  const visitors = Array.from({ length: 50 }, (_, index) => index * 2 ** 33 + 7)
  const variantsOf = (rules: readonly Rule[], facts: MadeUpVisitor = {}) =>
    visitors.map((visitor) => decideBy(rules, { visitor, ...facts }).outcome)

  test('D12: give everybody the variant in whose favour they have ended', () => {
    const ended = split({ end: { at: at(0), variant: 'V2' } })
    for (const outcome of variantsOf(ended)) assert.equal(outcome?.variant, 'V2')
    const before = variantsOf(ended, { atMs: NOW_MS - 1 })
    assert.deepEqual(new Set(before.map((outcome) => outcome?.variant)), new Set(['V1', 'V2']))
  })

  test('D13: keep the variant of a cookie, and set none again', () => {
    const kept = variantsOf(split({ remember_days: 30 }), { keptVariant: () => 'V2' })
    for (const outcome of kept) {
      assert.deepEqual([outcome?.variant, outcome?.keepDays], ['V2', 0])
    }
  })

  test('D14: draw again where the variant of the cookie was removed', () => {
    const drawn = variantsOf(split({ remember_days: 30 }), { keptVariant: () => 'V3' })
    assert.deepEqual(
      drawn.map((outcome) => outcome?.variant),
      variantsOf(split()).map((outcome) => outcome?.variant),
    )
    for (const outcome of drawn) assert.equal(outcome?.keepDays, 30)
  })

  test('ignore cookies without remember_days', () => {
    const drawn = variantsOf(split(), { keptVariant: () => 'V2' })
    assert.ok(drawn.some((outcome) => outcome?.variant === 'V1'))
  })
})

describe('explanations', () => {
  test('agree with what is decided, for any rules and visitor', () => {
    fc.assert(
      fc.property(arbitraryRules, arbitraryVisitor, (list, facts) => {
        const steps: [id: string, failed: string | undefined][] = []
        const explained = decideBy(list, facts, {
          rule: (rule, failed) => steps.push([rule.id, failed?.path]),
          destination: () => {},
          query: () => {},
          replaced: () => {},
          defaults: () => {},
        })
        const silent = decideBy(list, facts)
        assert.equal(explained.location, silent.location)
        assert.equal(explained.outcome?.rule, silent.outcome?.rule)
        assert.equal(explained.outcome?.variant, silent.outcome?.variant)
        const decided = explained.outcome?.rule
        const tried = decided === undefined ? list.length : Number(decided.slice(1)) + 1
        assert.deepEqual(
          steps.map(([id]) => id),
          list.slice(0, tried).map(({ id }) => id),
        )
        for (const [id, failed] of steps) assert.equal(failed === undefined, id === decided)
        for (const [id, failed] of steps) {
          // Which language is the best depends on those of the other rules.
          if (failed === undefined || /language|any/.test(failed)) continue
          const rule = list.find((each) => each.id === id)
          const alone = rulesOf([[onlyPart(rule?.when ?? {}, failed), A]])
          assert.equal(decideBy(alone, facts).outcome, undefined)
        }
      }),
      cases(2_000),
    )
  })
})

/** The condition that a path names, such as `not.os`. */
function onlyPart({ not, any: _, ...conditions }: When, path: string): When {
  const name = path.replace('not.', '') as keyof typeof conditions
  return path.startsWith('not.') ? { not: { [name]: not?.[name] } } : { [name]: conditions[name] }
}
