import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseUserAgent, type RawVisit } from '../../src/clicks/index.ts'
import { candidateOf } from '../../src/imports/import-candidate.ts'
import {
  type DubTargeting,
  dubTargeting,
  shortIoTargeting,
  sinkTargeting,
} from '../../src/imports/targeting/peer-targeting.ts'
import { shlinkTargeting } from '../../src/imports/targeting/shlink-targeting.ts'
import type { Targeting } from '../../src/imports/targeting/targeting.ts'
import { parseRules } from '../../src/links/rules.ts'
import { FaultList } from '../../src/platform/failure.ts'
import { networksOf } from '../../src/platform/network/ip-address.ts'
import { decide, decidePreview } from '../../src/redirects/decide.ts'
import { looksLikeMachine } from '../../src/redirects/machine-visits.ts'
import type { LinkTraits, PreparedLink } from '../../src/redirects/prepared-link.ts'
import { compileRules } from '../../src/redirects/rules.ts'
import { AGENTS } from '../redirect/agents.ts'
import { preparedLink } from '../redirect/prepared-links.ts'
import { type MadeUpVisitor, ruleVisitor } from '../redirect/rule-visitors.ts'
import { linkRecord } from './fake-source.ts'

const NOW_MS = Date.UTC(2026, 5, 1)
const HOST = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}
const U = 'https://u.example/'
const A = 'https://a.example/'
const B = 'https://b.example/'
const G = 'https://g.example/'
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15'
const IPAD_CHROME_AS_MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.0.0 Mobile/15E148 Safari/604.1'
const CHROMEBOOK =
  'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

/** Where a visitor of the imported link is sent. */
function locationOf({ ios, android, rules }: Targeting, facts: MadeUpVisitor): string {
  const decision = decideImported({ url: U, ios, android }, rules, facts)
  assert.equal(decision.kind, 'redirect')
  return (decision as { location: string }).location
}

function decideImported(
  link: Partial<PreparedLink & LinkTraits>,
  rules: Targeting['rules'],
  facts: MadeUpVisitor,
) {
  const faults = new FaultList()
  const stored = parseRules(
    rules,
    { appSchemes: [], hasCities: true, random: (n) => new Uint8Array(n) },
    faults,
  )
  faults.throwIfAny()
  const prepared = stored.length === 0 ? null : compileRules(stored)
  const visit = {
    ...{ host: HOST, isRoot: false, path: undefined, knowsPassword: false, sets: [] },
    labelParameter: null,
    link: preparedLink({ ...link, rules: prepared }),
    device: parseUserAgent(facts.userAgent).device,
    query: facts.query ?? '',
    visitorOf: () => ruleVisitor({ atMs: NOW_MS, ...facts }),
  }
  return decide(visit, NOW_MS)
}

const NONE = { ios: null, android: null }
const dub = (link: Partial<DubTargeting>) => dubTargeting({ ...NONE, ...link }, NOW_MS)

type Condition = readonly [type: string, key: string | null, value: string | null]
/** A rule for each destination, in their order. */
const shlink = (...rules: readonly (readonly [to: string, ...Condition[]])[]) =>
  shlinkTargeting({
    redirectRules: rules.map(([longUrl, ...conditions], index) => ({
      longUrl,
      priority: index + 1,
      conditions: conditions.map(([type, matchKey, matchValue]) => ({
        ...{ type, matchKey, matchValue },
      })),
    })),
  })

const at = (offset: number) => new Date(NOW_MS + offset).toISOString()
const VARIANTS = [
  { url: A, percentage: 10 },
  { url: A, percentage: 90 },
]
const language = (value: string): Condition => ['language', null, value]
const iPhone = { userAgent: AGENTS.iPhone }
const anyFoo: Condition = ['any-value-query-param', 'foo', null]
const emptyFoo: Condition = ['valueless-query-param', 'foo', null]
const enAndFoo = [
  [A, language('en'), anyFoo],
  [B, language('en')],
] as const

/** The cases of the services' own code, from their formats to where a visitor is sent. */
const CASES: readonly (readonly [
  name: string,
  targeting: Targeting,
  visitor: MadeUpVisitor,
  to: string,
])[] = [
  ['D1', dub({ ios: A, geo: { US: G } }), { ...iPhone, country: 'US' }, A],
  ['D2', dub({ ios: A, geo: { US: G } }), { userAgent: MAC, country: 'US' }, G],
  ['D3', dub({ android: B }), { userAgent: AGENTS.android }, B],
  [
    'D4, which says what it is, with a country',
    dub({ ios: A, geo: { US: G } }),
    { userAgent: IPAD_CHROME_AS_MAC, country: 'US' },
    A,
  ],
  ['D5', dub({ geo: { us: G } }), { country: 'US' }, G],
  ['D6', dub({ geo: { GB: G } }), { country: '' }, U],
  ['D11', dub({ ios: B, testVariants: VARIANTS, testCompletedAt: at(1) }), iPhone, B],
  ['D11 for others', dub({ ios: B, testVariants: VARIANTS, testCompletedAt: at(1) }), {}, A],
  ['D12 ended', dub({ testVariants: VARIANTS, testCompletedAt: at(-1) }), {}, U],
  ['D12 without an end', dub({ testVariants: VARIANTS, testCompletedAt: null }), {}, U],
  ['D17', dub({ testVariants: VARIANTS, testCompletedAt: at(5) }), { atMs: NOW_MS + 5 }, U],
  [
    'a test that begins later',
    dub({ testVariants: VARIANTS, testStartedAt: at(5), testCompletedAt: at(9) }),
    { atMs: NOW_MS + 4 },
    U,
  ],
  [
    'a country before a test',
    dub({ geo: { DE: G }, testVariants: VARIANTS, testCompletedAt: at(5) }),
    { country: 'DE' },
    G,
  ],
  ['S1', shlink([A, ['device', null, 'ios']]), { userAgent: MAC }, U],
  ['S2', shlink(...enAndFoo), { acceptLanguage: 'en-GB' }, B],
  ['S3', shlink(...enAndFoo), { acceptLanguage: 'en', query: 'foo' }, `${A}?foo`],
  ['S4', shlink([B, language('es')]), { acceptLanguage: 'en-US,es;q=0.6' }, U],
  ['S5', shlink([B, language('es')]), { acceptLanguage: 'en-US,es;q=0.9' }, B],
  ['S6', shlink([B, language('fr-FR')]), { acceptLanguage: 'fr' }, U],
  ['S7', shlink([B, language('fr')]), { acceptLanguage: 'FR_ca' }, B],
  ['S8', shlink([B, language('en')]), { acceptLanguage: '*' }, U],
  ['S9, better', shlink([B, language('zh-TW')]), { acceptLanguage: 'zh-Hant-TW' }, B],
  ['S10', shlink([B, ['query-param', 'foo', 'bar']]), { query: 'foo=BAR' }, `${U}?foo=BAR`],
  ['S11', shlink([B, emptyFoo]), { query: 'foo=' }, `${B}?foo=`],
  ['S12, better', shlink([B, emptyFoo]), { query: 'foo=0' }, `${U}?foo=0`],
  ['S13', shlink([B, ['ip-address', null, '1.2.*.4']]), { address: '1.2.99.4' }, B],
  ['S14', shlink([B, ['ip-address', null, '10.0.0.0/8']]), { address: '2001:db8::1' }, U],
  ['S15 before', shlink([B, ['before-date', null, at(0)]]), {}, U],
  ['S15 before that', shlink([B, ['before-date', null, at(1)]]), {}, B],
  ['S15 after', shlink([B, ['after-date', null, at(1)]]), {}, U],
  ['S16', shlink([B]), {}, U],
  ['S17', shlink([B, ['device', null, 'desktop']]), { userAgent: CHROMEBOOK }, B],
  ['S18', shlink([B, ['geolocation-country-code', null, 'us']]), { country: 'US' }, B],
  ['S21', shlink([`${A}?x=1`, ['device', null, 'ios']]), { ...iPhone, query: 'x=2' }, `${A}?x=2`],
  [
    'a city of Shlink',
    shlink([B, ['geolocation-city-name', null, 'köln']]),
    { place: { city: 'Köln' } },
    B,
  ],
  [
    'a region of Short.io before its country',
    shortIoTargeting({
      ...NONE,
      countries: [{ country: 'US', originalURL: A }],
      regions: [{ country: 'US', region: 'CA', originalURL: G }],
    }),
    { country: 'US', place: { region: 'US-CA' } },
    G,
  ],
  [
    'a device before a language',
    shlink([A, ['device', null, 'ios']], [B, language('de')]),
    { ...iPhone, acceptLanguage: 'de' },
    A,
  ],
  [
    'a language before a device',
    shlink([B, language('de')], [A, ['device', null, 'ios']]),
    { ...iPhone, acceptLanguage: 'de' },
    B,
  ],
  [
    'a device behind a language',
    shlink([B, language('de')], [A, ['device', null, 'ios']]),
    { ...iPhone, acceptLanguage: 'fr' },
    A,
  ],
  [
    'two parameters, of which one is missing',
    shlink([B, ['query-param', 'a', '1'], ['query-param', 'b', '2']]),
    { query: 'a=1' },
    `${U}?a=1`,
  ],
  [
    'four parameters',
    shlink([
      B,
      ['query-param', 'a', '1'],
      ['query-param', 'b', ''],
      anyFoo,
      ['any-value-query-param', 'bar', null],
    ]),
    { query: 'a=1&b&foo=x&bar' },
    `${B}?a=1&b&foo=x&bar`,
  ],
  [
    'a time between two dates',
    shlink([B, ['after-date', null, at(-5)], ['before-date', null, at(-1)]]),
    {},
    U,
  ],
  [
    'two networks',
    shlink([B, ['ip-address', null, '10.0.0.0/8'], ['ip-address', null, '10.*.*.1']]),
    { address: '10.2.3.4' },
    U,
  ],
  [
    'K1, better',
    sinkTargeting({ ios: A, android: null }, { US: G }),
    { ...iPhone, country: 'US', query: 'a=1' },
    `${A}?a=1`,
  ],
  [
    'K2',
    sinkTargeting({ ios: A, android: null }, { US: G }),
    { country: 'US', query: 'a=1' },
    `${G}?a=1`,
  ],
  [
    'a country of Short.io before the EU',
    shortIoTargeting({
      ...NONE,
      countries: [
        { country: 'EU', originalURL: G },
        { country: 'DE', originalURL: A },
      ],
    }),
    { country: 'DE' },
    A,
  ],
]

/** A link of Dub that is disabled, as an import takes it over. */
function closedLink(): Partial<PreparedLink & LinkTraits> {
  const made = linkRecord({ key: 'k', closed: 'It is disabled.', expired_redirect_url: B })
  const nowMicros = NOW_MS * 1_000
  const candidate = candidateOf(
    { ...made, resume: '' },
    { hostOf: () => 'h', faultsOf: () => ({}), nowMicros },
  )
  assert.ok('input' in candidate)
  const { expires_at, expired_redirect_url: expiredRedirectUrl = null } = candidate.input
  return { expiresAtMs: Date.parse(expires_at ?? ''), expiredRedirectUrl }
}

const SPLIT = dub({
  testVariants: [
    { url: A, percentage: 50 },
    { url: B, percentage: 50 },
  ],
  testCompletedAt: at(5),
}).rules
const SNAPCHAT = `${AGENTS.iPhone} Snapchat/12.80.0.34`
const PREVIEW = { title: 'A title', description: null, image: null }

/** The cases that are about more than targeting; `better` says why a result is another than the service's. */
const STATES: readonly {
  readonly name: string
  readonly link: Partial<PreparedLink & LinkTraits>
  readonly rules?: Targeting['rules']
  readonly visitor?: MadeUpVisitor
  readonly kind: string
  readonly to?: string
  readonly better?: string
}[] = [
  { name: 'D7', link: { expiresAtMs: NOW_MS, ios: A }, visitor: iPhone, kind: 'expired' },
  {
    ...{ name: 'D8', link: { expiresAtMs: NOW_MS, ios: A, expiredRedirectUrl: B } },
    ...{ visitor: iPhone, kind: 'fallback', to: B },
  },
  {
    ...{ name: 'D9', link: closedLink(), kind: 'expired' },
    better: 'a visitor learns that the link was there',
  },
  {
    ...{ name: 'D10', rules: dub({ geo: { US: G } }).rules, visitor: { country: 'US' } },
    link: { password: { sealed: 's', linkId: 'l', workspaceId: 'w' } },
    kind: 'ask-password',
  },
  {
    ...{ name: 'D13', link: {}, rules: SPLIT, visitor: { keptVariant: () => 'B' } },
    ...{ kind: 'redirect', to: B },
  },
  {
    ...{ name: 'D15', link: { url: `${U}?a=1` }, visitor: { query: 'a=2&b=3' } },
    ...{ kind: 'redirect', to: `${U}?a=2&b=3` },
  },
  {
    ...{ name: 'S19', link: { activeFromMs: NOW_MS + 1 }, kind: 'upcoming' },
    rules: shlink([B, ['device', null, 'ios']]).rules,
    visitor: iPhone,
  },
  {
    ...{ name: 'K3', link: { preview: PREVIEW }, visitor: { userAgent: SNAPCHAT } },
    ...{ kind: 'redirect', to: U, better: 'a person in the browser of an app is a person' },
  },
  {
    ...{ name: 'K4', link: { preview: PREVIEW }, visitor: { userAgent: AGENTS.slackbot } },
    ...{ kind: 'preview', better: 'Terse warns of no destination: the preview is what was set' },
  },
  {
    ...{ name: 'S20', link: { maxClicks: 1 }, visitor: { userAgent: AGENTS.googlebot } },
    ...{ kind: 'machine', better: 'a bot uses up no visit' },
  },
  {
    ...{ name: 'P1', link: { maxClicks: 1 }, visitor: { userAgent: undefined } },
    ...{ kind: 'machine', better: 'what is not counted does not reach the destination' },
  },
]

/** What a visit gets: `machine` where it takes no click of a limit, and gets a page. */
function outcomeOf({ link, rules = [], visitor = {} }: (typeof STATES)[number]) {
  const userAgent = visitor.userAgent
  const decision = decideImported({ url: U, ...link }, rules, visitor)
  if (decision.kind !== 'redirect') return decision
  const raw = { at: NOW_MS * 1_000, address: '192.0.2.1', method: 'GET', query: '' }
  const visit = { ...raw, userAgent, referer: undefined, headers: {} } as unknown as RawVisit
  const isMachine = looksLikeMachine(visit, networksOf([]))
  if (decision.link.traits.maxClicks !== null && isMachine) return { kind: 'machine' }
  return decidePreview(decision, userAgent) ?? decision
}

describe('the states of links of other services', () => {
  for (const state of STATES) {
    const { name, kind, to, better } = state
    test(`${name}: ${kind}${to ? ` to ${to}` : ''}${better ? `, because ${better}` : ''}`, () => {
      const found = outcomeOf(state)
      assert.equal(found.kind, kind)
      if (to !== undefined) assert.equal('location' in found && found.location, to)
    })
  }

  test('D14: a visitor whose variant is gone gets one of the others', () => {
    const { location } = outcomeOf({
      ...{ name: 'D14', link: {}, rules: SPLIT, kind: 'redirect' },
      visitor: { keptVariant: () => 'C' },
    }) as { location: string }
    assert.ok([A, B].includes(location))
  })
})

describe('the targeting of other services', () => {
  for (const [name, targeting, visitor, to] of CASES) {
    test(`${name}: leads to ${to}`, () => assert.equal(locationOf(targeting, visitor), to))
  }

  test('divides visitors by the percentages of Dub', () => {
    const { rules } = dub({
      testVariants: [
        { url: A, percentage: 33.3 },
        { url: B, percentage: 66.7 },
      ],
      testCompletedAt: at(1),
    })
    const [{ then } = { then: {} }] = rules
    assert.deepEqual(then, {
      split: [
        { name: 'A', url: A, weight: 3330 },
        { name: 'B', url: B, weight: 6670 },
      ],
      remember_days: 7,
    })
  })
})
