import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MadeUpVisitor } from '@terse/contract/explain'
import { PATH_MODES, QUERY_MODES } from '@terse/contract/link-fields'
import fc from 'fast-check'
import { AGENTS } from '../../test/redirect/agents.ts'
import {
  arbitraryAddress,
  arbitraryAgent,
  arbitraryLanguage,
  arbitraryRules,
} from '../../test/redirect/arbitrary-rules.ts'
import { finderOf } from '../../test/redirect/prepared-links.ts'
import { directHasher } from '../../test/support/direct-hasher.ts'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { cases } from '../../test/support/properties.ts'
import { type Click, NOWHERE } from '../clicks/click.ts'
import { clickMaker, visitorFacts } from '../clicks/record/click-maker.ts'
import { NO_ATTRIBUTES } from '../links/link.ts'
import type { VisitedLink } from '../links/store/link-directory.ts'
import { systemRandom } from '../platform/crypto/random.ts'
import { sipKeyOf } from '../platform/crypto/siphash.ts'
import type { VisitHeaders } from '../platform/http/request-target.ts'
import { Throttles } from '../platform/limits/throttle.ts'
import { Networks, networksOf } from '../platform/network/ip-address.ts'
import { passwordVault } from '../platform/passwords/password-vault.ts'
import { RedirectHandler } from '../redirects/handler.ts'
import { MachineVisits } from '../redirects/machine-visits.ts'
import { passwordCookies } from '../redirects/password.ts'
import { indexPaths, matchPath } from '../redirects/paths.ts'
import { prepare } from '../redirects/prepared-link.ts'
import { type SharedRules, shareRules } from '../redirects/rules.ts'
import { variantCookies } from '../redirects/variant-cookies.ts'
import { explainDecision, presentExplanation } from './explanation.ts'
import { madeUpVisitor } from './visitor.ts'

const KEY = Buffer.alloc(32, 7)
const clock = fakeClock(Date.UTC(2026, 5, 1))
const NOW_MS = clock.nowMicros() / 1000
const SALTS = { at: () => ({ day: 0, text: '', key: sipKeyOf(KEY) }) }
const COUNTRIES = new Map([
  ['10.1.2.3', 'DE'],
  ['192.0.2.1', 'US'],
])
const places = (address: string) => ({ ...NOWHERE, country: COUNTRIES.get(address) ?? '' })
const scannerNetworks = networksOf(['192.0.2.0/24'])
const facts = { ...visitorFacts({ salts: SALTS, places }), scannerNetworks }
const cookies = passwordCookies(KEY)
const keptVariants = variantCookies(KEY)

const LABEL_PARAMETER = 'via'
const LINK: VisitedLink = {
  ...NO_ATTRIBUTES,
  ...{ seq: 1, id: 'id', workspace_id: 'workspace', key: 'key', url: 'https://u.example/?b=2#x' },
}
const HOST = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}

type Answered = { status: number; location: string | null; click: Click | undefined }

/** Answers a visit of a link by the handler of redirects. */
async function visitLink(
  host: typeof HOST,
  link: VisitedLink,
  visitor: MadeUpVisitor,
  sets: readonly SharedRules[],
  isUsedUp: boolean,
): Promise<Answered> {
  const prepared = prepare(link)
  let click: Click | undefined
  const { path = '/key' } = visitor
  const match = /^\/key\/?$/.test(path) ? undefined : matchPath(indexPaths(['key']), path)
  const isOfLink = match === undefined || link.path !== 'none'
  const trustedProxies = new Networks()
  const handler = new RedirectHandler({
    finder: finderOf({
      ...{ host, sets, labelParameter: LABEL_PARAMETER, tokenParameter: tokenParameterOf(link) },
      ...(isOfLink ? { link: prepared, path: match } : { link: undefined }),
    }),
    recorder: {
      record(made, done) {
        click = made
        done(true)
      },
    },
    limits: { take: () => 'taken', giveBack: () => {}, isUsedUp: () => isUsedUp },
    machines: new MachineVisits(scannerNetworks),
    makeClick: clickMaker({
      ...{ salts: SALTS, places, cap: undefined },
      onSharedAddress: () => {},
    }),
    vault: passwordVault(KEY, systemRandom, directHasher()),
    ...{ cookies, variantCookies: keptVariants, visitorFacts: facts, clock, trustedProxies },
    makeToken: () => '(token)',
    throttles: new Throttles({ clock, peers: undefined }),
    service: { host: 'service.example', ports: new Set([443]) },
    oembedUrl: 'https://service.example/oembed',
    serviceHostFor: () => undefined,
    onError: (error) => assert.fail(String(error)),
  })
  return new Promise((resolve) =>
    handler.visit({
      method: visitor.method ?? 'GET',
      target: { host: 'go.example', path, query: sentQuery(visitor) },
      headers: headersOf(prepared, visitor),
      remoteAddress: visitor.address ?? '',
      ...{ startedMs: 0, isEncrypted: true, isAnswered: false },
      answer(status, fixed, own, body) {
        const location = { ...fixed, ...own }.Location ?? refreshOf(body)
        resolve({ status, location, click })
      },
      abandon: () => assert.fail('abandoned'),
    }),
  )
}

/** As the finder finds it out. */
function tokenParameterOf({ track_conversions }: VisitedLink): string | null {
  return track_conversions === true ? 'tc' : null
}

/** Where the page of a preview leads; null for another one. */
function refreshOf(page: string): string | null {
  const [, escaped] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(page) ?? []
  return escaped?.replaceAll('&#39;', "'").replaceAll('&amp;', '&') ?? null
}

function sentQuery({ query = '', label, qr }: MadeUpVisitor): string {
  const parts = [
    query,
    label === undefined ? '' : `${LABEL_PARAMETER}=${label}`,
    qr === true ? 'qr=1' : '',
  ]
  return parts.filter((part) => part !== '').join('&')
}

function headersOf(link: ReturnType<typeof prepare>, visitor: MadeUpVisitor): VisitHeaders {
  const to = { path: '/key', secure: true }
  const kept = Object.entries(visitor.variants ?? {}).map(([rule, variant]) =>
    keptVariants.issue({ linkSeq: link.seq, rule }, { variant, days: 9 }, to, NOW_MS),
  )
  const unlocked =
    visitor.password === true && link.traits.password !== null
      ? [cookies.issue(link, '/key', true, NOW_MS)]
      : []
  return {
    cookie: [...kept, ...unlocked].map((text) => text.split(';', 1)[0]).join('; '),
    'user-agent': visitor.agent,
    referer: visitor.referrer,
    'accept-language': visitor.language,
    'sec-purpose': visitor.prefetch === true ? 'prefetch' : undefined,
    ...{ purpose: undefined, 'x-purpose': undefined, 'x-moz': undefined },
    ...{ 'x-forwarded-for': undefined, 'x-forwarded-proto': undefined },
  }
}

function explain(
  host: typeof HOST,
  link: VisitedLink,
  visitor: MadeUpVisitor,
  sets: readonly SharedRules[] = [],
  isUsedUp = false,
) {
  const labelParameter = LABEL_PARAMETER
  const made = madeUpVisitor(visitor, clock.nowMicros(), facts, labelParameter)
  const tokenParameter = tokenParameterOf(link)
  const found = { host, link, prepared: prepare(link), sets }
  const subject = { ...found, labelParameter, tokenParameter, isUsedUp }
  return presentExplanation(explainDecision(subject, made), { domainWorks: true })
}

/** Null for most, so that most links redirect. */
const maybe = <T>(value: fc.Arbitrary<T>) =>
  fc.tuple(value, fc.nat(3)).map(([each, dice]) => (dice === 0 ? each : null))
const url = (name: string) => fc.constant(`https://${name}.example/`)
const arbitraryLink: fc.Arbitrary<VisitedLink> = fc
  .record({
    rules: arbitraryRules,
    ios: maybe(url('ios')),
    android: maybe(fc.constant('myapp://android')),
    utm_source: maybe(fc.constantFrom('ä & b', 'poster')),
    expires_at: maybe(fc.constantFrom('2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z')),
    expired_redirect_url: maybe(url('expired')),
    password: maybe(fc.constant('sealed')),
    active_from: maybe(fc.constantFrom('2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z')),
    query: fc.constantFrom(...QUERY_MODES),
    path: fc.constantFrom(...PATH_MODES),
    url: fc.constantFrom('https://u.example/?b=2#x', 'https://u.example/{1}/{path}?b=2'),
    max_clicks: maybe(fc.constant(5)),
    title: maybe(fc.constant('Spring <sale>')),
    track_conversions: maybe(fc.boolean()),
  })
  .map(({ rules, ...fields }) => ({
    ...LINK,
    ...fields,
    rules: rules.length === 0 ? null : rules,
  }))
/** Opens links of its person before the browser does, and does not call itself a bot. */
const OFFICE = fc.constant('Microsoft Office Word 2014 (16.0.17328) Windows NT 10.0')
const arbitraryMadeUp: fc.Arbitrary<MadeUpVisitor> = fc.record(
  {
    address: arbitraryAddress,
    agent: fc.oneof({ weight: 7, arbitrary: arbitraryAgent }, { weight: 1, arbitrary: OFFICE }),
    language: arbitraryLanguage,
    path: fc.constantFrom('/key', '/key/', '/KEY/a%20b/c', '/key/x'),
    query: fc.constantFrom('', 'a=1', 'a&b=1', 'b=1&c=&b=3', '%20=x'),
    referrer: fc.constantFrom('https://heise.de/', 'android-app://org.example/'),
    label: fc.constantFrom('news', 'b'),
    method: fc.constantFrom('GET' as const, 'HEAD' as const),
    qr: fc.boolean(),
    prefetch: fc.boolean(),
    password: fc.boolean(),
    variants: fc.dictionary(fc.constantFrom('r0', 'r1'), fc.constantFrom('v0', 'v1', 'v9')),
  },
  { requiredKeys: ['address'] },
)
const arbitraryHost = fc
  .record({ expiredUrl: maybe(url('later')) })
  .map((fields) => ({ ...HOST, ...fields }) as typeof HOST)

describe('an explanation', () => {
  test('agrees with the redirect, over any links, rules and visitors', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHost,
        arbitraryLink,
        arbitraryMadeUp,
        arbitraryRules,
        fc.boolean(),
        async (host, link, visitor, shared, isUsedUp) => {
          const sets = shared.length === 0 ? [] : [shareRules(shared)]
          const explained = explain(host, link, visitor, sets, isUsedUp)
          const { status, location, click } = await visitLink(host, link, visitor, sets, isUsedUp)
          const { rule, variant } = explained.decided_by
          assert.deepEqual([explained.status, explained.location], [status, location])
          assert.deepEqual([rule ?? '', variant ?? ''], [click?.rule ?? '', click?.variant ?? ''])
          const as = click === undefined ? 'nothing' : click.flags === 0 ? 'click' : 'bot'
          assert.equal(explained.counted.as, as)
          const results = explained.rules.map(({ result }) => result)
          const at = results.indexOf('decided')
          // A page in place of the destination is of no rule.
          if (explained.kind !== 'preview') assert.equal(explained.rules[at]?.id ?? null, rule)
          for (const [nth, { failed }] of explained.rules.entries()) {
            assert.equal(failed !== null, results[nth] === 'failed')
            if (failed !== null) assert.notEqual(failed.wanted, undefined)
          }
        },
      ),
      cases(3_000),
    )
  })

  test('has the parts of the address that make it up', async () => {
    const link = {
      ...LINK,
      utm_source: 'ä & b',
      utm_medium: 'print',
      rules: [
        {
          ...{ id: 'ab', name: 'Sorts', when: { device: ['phone' as const] } },
          then: { url: 'https://shop.example/{query.sku}?utm_medium=old&a=0&z=1' },
        },
      ],
    }
    const { location, url, decided_by } = explain(HOST, link, {
      agent: AGENTS.iPhone,
      query: 'sku=7&a=2&n=3',
      qr: true,
    })
    assert.equal(
      location,
      'https://shop.example/7?z=1&utm_source=%C3%A4%20%26%20b&utm_medium=print&a=2&n=3',
    )
    assert.deepEqual(decided_by, {
      ...{ by: 'rule', rule: 'ab', name: 'Sorts', variant: null, chosen_by: null },
    })
    assert.deepEqual(url, {
      destination: 'https://shop.example/{query.sku}?utm_medium=old&a=0&z=1',
      placeholders: [{ of: 'query', name: 'sku', value: '7' }],
      path: null,
      utm: [
        { of: 'link', name: 'utm_source', value: 'ä & b', replaces: false },
        { of: 'link', name: 'utm_medium', value: 'print', replaces: true },
      ],
      query: [
        { parameter: 'sku=7', effect: 'removed', reason: 'placeholder' },
        { parameter: 'a=2', effect: 'replaces', reason: null },
        { parameter: 'n=3', effect: 'added', reason: null },
        { parameter: 'qr=1', effect: 'removed', reason: 'qr' },
      ],
      replaced: ['a=0'],
      token: null,
    })
  })

  test('takes a location apart where the visitor has more of a path, or sees a preview', () => {
    const capture = { ...LINK, path: 'capture' as const, url: 'https://u.example/{1}/all/{path}' }
    const captured = explain(HOST, capture, { path: '/key/a b/c' })
    assert.equal(captured.location, 'https://u.example/a%20b/all/a%20b/c')
    assert.deepEqual(captured.url?.placeholders, [
      { of: 'path', name: '1', value: 'a%20b' },
      { of: 'path', name: 'path', value: 'a%20b/c' },
    ])
    const append = { ...LINK, path: 'append' as const, title: 'Spring', url: 'https://u.example/v' }
    const shown = explain(HOST, append, { path: 'key/x', agent: 'Slackbot 1.0' })
    assert.deepEqual([shown.kind, shown.location], ['preview', 'https://u.example/v/x'])
    assert.equal(shown.url?.path, '/x')
    assert.equal(explain(HOST, LINK, { path: '/key/x' }).kind, 'not-found')
  })

  test('names the condition that failed, what the rule wants and what the visitor has', () => {
    const whens = [
      { country: ['CH'] },
      { not: { os: ['ios' as const] } },
      { any: [{ qr: true }, { language: ['fr'] }] },
    ]
    const then = { url: 'https://a.example/' }
    const rules = whens.map((when, nth) => ({ id: `r${nth}`, when, then }))
    const visitor = { country: 'at', agent: AGENTS.iPhone, language: 'de' }
    const explained = explain(HOST, { ...LINK, rules }, visitor)
    assert.equal(explained.decided_by.by, 'url')
    assert.deepEqual(
      explained.rules.map(({ failed }) => failed),
      [
        { path: 'when.country', wanted: ['CH'], found: 'AT' },
        { path: 'when.not.os', wanted: ['ios'], found: 'ios' },
        { path: 'when.any', wanted: whens[2]?.any, found: 'false, de' },
      ],
    )
  })

  test('gives a made-up visitor without an address the same variant on each day', () => {
    const split = ['a', 'b'].map((name) => ({ name, url: `https://${name}.example/`, weight: 1 }))
    const link = { ...LINK, rules: [{ id: 'r0', when: {}, then: { split } }] }
    const variantAt = (at: string) => explain(HOST, link, { at, agent: 'x' }).decided_by
    const { variant, chosen_by } = variantAt('2026-06-01T00:00:00Z')
    assert.equal(chosen_by, 'weight')
    assert.equal(variantAt('2026-06-02T00:00:00Z').variant, variant)
  })
})
