import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { AGENTS } from '../../../test/redirect/agents.ts'
import { rawVisit } from '../../../test/redirect/click/raw-visits.ts'
import { cases } from '../../../test/support/properties.ts'
import { CLICK_FLAGS, cappedClick, NOWHERE } from '../click.ts'
import { ClickCap, clickMaker, type SharedAddress, type SharedFrom } from './click-maker.ts'
import type { RawVisit } from './raw-visit.ts'
import type { DaySalt } from './visitor-salts.ts'

const SWISS = { ...NOWHERE, country: 'CH' }

const saltOf = (day: number): DaySalt => ({ day, text: String(day), key: [day, 2, 3, 4] })

describe('clickMaker', () => {
  let salt = saltOf(1)
  const makeClick = clickMaker({
    salts: { at: () => salt },
    places: (address) => (address.startsWith('192.0.2.') ? SWISS : NOWHERE),
    cap: undefined,
    onSharedAddress: () => {},
  })
  const visitorOf = (address: string, userAgent?: string) =>
    makeClick(7, rawVisit({ address, userAgent })).visitor

  test('reads country, device, referrer, language and source from the visit', () => {
    const click = makeClick(
      7,
      rawVisit({
        address: '192.0.2.1',
        query: 'a=1&qr=1',
        userAgent: AGENTS.iPhone,
        referer: 'https://News.example.com/today',
        acceptLanguage: 'de-CH,de;q=0.9',
      }),
    )
    const { visitor, ...rest } = click
    assert.deepEqual(rest, {
      at: rawVisit().at,
      link_seq: 7,
      flags: 0,
      count: 1,
      country: 'CH',
      device: 'mobile',
      os: 'iOS',
      browser: 'Safari',
      referrer: 'news.example.com',
      language: 'de',
      source: 'qr',
      rule: '',
      variant: '',
      label: '',
      region: '',
      city: '',
    })
    assert.ok(Number.isSafeInteger(visitor) && visitor >= 0)
  })

  test('leaves unknown values empty', () => {
    const { visitor, ...rest } = makeClick(7, rawVisit())
    assert.deepEqual(rest, {
      at: rawVisit().at,
      link_seq: 7,
      flags: CLICK_FLAGS.noUserAgent,
      count: 1,
      country: '',
      device: '',
      os: '',
      browser: '',
      referrer: '',
      language: '',
      source: 'direct',
      rule: '',
      variant: '',
      label: '',
      region: '',
      city: '',
    })
  })

  test('has the rule and the variant that decided, and the label', () => {
    const ruled = { rule: 'phones', variant: 'größer' }
    const { rule, variant, label } = makeClick(7, rawVisit(), ruled, 'newsletter')
    assert.deepEqual({ rule, variant, label }, { ...ruled, label: 'newsletter' })
  })

  test('flags bots, HEAD requests and prefetches', () => {
    const { bot, head, prefetch } = CLICK_FLAGS
    const visit = rawVisit({ method: 'HEAD', userAgent: AGENTS.googlebot, purpose: 'prefetch' })
    assert.equal(makeClick(7, visit).flags, bot + head + prefetch)
    assert.equal(makeClick(7, rawVisit({ method: 'POST', userAgent: AGENTS.iPhone })).flags, 0)
  })

  test('gives a visitor one number all day, and other visitors other numbers', () => {
    const visitors = [
      visitorOf('192.0.2.1', AGENTS.iPhone),
      visitorOf('192.0.2.2', AGENTS.iPhone),
      visitorOf('192.0.2.1', AGENTS.android),
      visitorOf('192.0.2.1'),
      visitorOf('2001:db8::1', AGENTS.iPhone),
      visitorOf('2001:db8:0:1::1', AGENTS.iPhone),
    ]
    assert.equal(new Set(visitors).size, visitors.length)
    for (const turn of [1, 2]) {
      assert.equal(visitorOf('192.0.2.1', AGENTS.iPhone), visitors[0], `turn ${turn}`)
      assert.equal(visitorOf('192.0.2.1', AGENTS.android), visitors[2], `turn ${turn}`)
    }
  })

  test('treats all addresses of an IPv6 subscriber as one', () => {
    const visitor = visitorOf('2001:db8::1', AGENTS.iPhone)
    assert.equal(visitorOf('2001:db8::ffff:1', AGENTS.iPhone), visitor)
    assert.equal(visitorOf('2001:0db8:0:0:1::', AGENTS.iPhone), visitor)
  })

  test('gives another number under another salt, and the same one again under the first', () => {
    const before = visitorOf('192.0.2.1', AGENTS.iPhone)
    salt = saltOf(2)
    const later = visitorOf('192.0.2.1', AGENTS.iPhone)
    assert.notEqual(later, before)
    assert.equal(visitorOf('192.0.2.1', AGENTS.iPhone), later)
    salt = saltOf(1)
    assert.equal(visitorOf('192.0.2.1', AGENTS.iPhone), before)
  })
})

describe('clickMaker without a cap', () => {
  test('reports an untrusted proxy on a private address', () => {
    const shared: [SharedAddress, SharedFrom][] = []
    const makeClick = clickMaker({
      salts: { at: () => saltOf(1) },
      places: () => SWISS,
      cap: undefined,
      onSharedAddress: (...reported) => shared.push(reported),
    })
    makeClick(7, rawVisit({ isForwarded: true }))
    makeClick(7, rawVisit({ address: '172.18.0.5' }))
    assert.deepEqual(shared, [])
    makeClick(7, rawVisit({ address: '172.18.0.5', isForwarded: true }))
    const from = { address: '172.18.0.5', isPrivate: true }
    assert.deepEqual(shared, [['untrusted proxy', from]])
  })
})

describe('clickMaker above the cap', () => {
  const CAP = 3

  /** Makes clicks under a cap and records the reported addresses that several visitors may share. */
  function cappedMaker() {
    const shared: SharedAddress[] = []
    const makeClick = clickMaker({
      salts: { at: () => saltOf(1) },
      places: () => SWISS,
      cap: new ClickCap(CAP, [1, 2, 3, 4]),
      onSharedAddress: (why) => shared.push(why),
    })
    const flagsOf = (visits: number, sent: Partial<RawVisit> = {}) =>
      Array.from(
        { length: visits },
        () => makeClick(7, rawVisit({ userAgent: AGENTS.iPhone, ...sent })).flags,
      )
    return { makeClick, flagsOf, shared }
  }
  const { capped } = CLICK_FLAGS

  test('returns a capped click that holds only its link and instant', () => {
    const { makeClick, flagsOf, shared } = cappedMaker()
    assert.deepEqual(flagsOf(CAP), [0, 0, 0])
    const visit = rawVisit({ method: 'HEAD', userAgent: AGENTS.googlebot, query: 'qr=1' })
    assert.deepEqual(makeClick(7, visit), cappedClick(7, visit.at, 1))
    assert.deepEqual(shared, [])
  })

  test('caps by address and link, not by user agent', () => {
    const { flagsOf } = cappedMaker()
    assert.deepEqual(flagsOf(2), [0, 0])
    assert.deepEqual(flagsOf(2, { userAgent: AGENTS.android }), [0, capped])
    assert.deepEqual(flagsOf(1, { address: '203.0.113.6' }), [0])
  })

  test('caps all addresses of an IPv6 subscriber together', () => {
    const { flagsOf } = cappedMaker()
    assert.deepEqual(flagsOf(2, { address: '2001:db8::1' }), [0, 0])
    assert.deepEqual(flagsOf(2, { address: '2001:db8::ffff:2' }), [0, capped])
    assert.deepEqual(flagsOf(1, { address: '2001:db8:0:1::1' }), [0])
  })

  test('does not cap visits through an untrusted proxy on a private address, because it hides the visitors', () => {
    const { flagsOf, shared } = cappedMaker()
    const visits = { address: '172.18.0.5', isForwarded: true }
    assert.deepEqual(flagsOf(5, visits), [0, 0, 0, 0, 0])
    assert.deepEqual(new Set(shared), new Set(['untrusted proxy']))
  })

  const ELSEWHERE: readonly [string, Partial<RawVisit>, SharedAddress][] = [
    ['comes from a public address and was forwarded', { isForwarded: true }, 'untrusted proxy'],
    ['comes from a private network', { address: '10.0.0.7' }, 'private address'],
    ['comes from this machine', { address: '::1' }, 'private address'],
  ]
  for (const [what, sent, why] of ELSEWHERE) {
    test(`caps a visit that ${what}, and reports it`, () => {
      const { flagsOf, shared } = cappedMaker()
      assert.deepEqual(flagsOf(5, sent), [0, 0, 0, capped, capped])
      assert.deepEqual(shared, [why, why])
    })
  }
})

const MINUTE_MICROS = 60_000_000
const NOON = 29_000_000 * MINUTE_MICROS
/** How many pairs of address and link the table holds. */
const PAIRS_MAX = 16_384

function capOf(perMinute: number): ClickCap {
  return new ClickCap(perMinute, [1, 2, 3, 4])
}

/** How many of `clicks` clicks of one address on one link are admitted. */
function admitted(
  cap: ClickCap,
  clicks: number,
  { address = 'a', link = 1, at = NOON }: { address?: string; link?: number; at?: number } = {},
): number {
  const number = cap.addressNumber(address)
  let count = 0
  for (let click = 0; click < clicks; click += 1) {
    if (cap.admits(number, link, at)) count += 1
  }
  return count
}

describe('ClickCap', () => {
  test('admits up to the limit of clicks of one address on one link, and counts the rest', () => {
    const cap = capOf(300)
    assert.equal(admitted(cap, 20_000), 300)
    assert.equal(cap.capped, 19_700)
  })

  test('starts again with each minute of the clock, even when the clock is set back', () => {
    const cap = capOf(5)
    assert.equal(admitted(cap, 9, { at: NOON + MINUTE_MICROS - 1 }), 5)
    assert.equal(admitted(cap, 9, { at: NOON + MINUTE_MICROS }), 5)
    assert.equal(admitted(cap, 9, { at: NOON + 2 * MINUTE_MICROS - 1 }), 0)
    assert.equal(admitted(cap, 9, { at: NOON - 10 * MINUTE_MICROS }), 5)
    assert.equal(admitted(cap, 9, { at: -1 }), 5)
  })

  test('counts each address and each link separately', () => {
    const cap = capOf(3)
    for (let n = 0; n < 200; n += 1) {
      assert.equal(admitted(cap, 5, { address: `192.0.2.${n}` }), 3)
      assert.equal(admitted(cap, 5, { link: 2 + n }), 3)
    }
    assert.equal(cap.capped, 800)
  })

  test('is exact for any order of clicks while the table has room for their pairs', () => {
    const click = fc.record({
      address: fc.constantFrom('a', 'b', 'c'),
      link: fc.constantFrom(1, 2, 2 ** 32 + 1, 2 ** 40),
      minute: fc.nat({ max: 2 }),
    })
    fc.assert(
      fc.property(fc.array(click, { maxLength: 300, size: 'max' }), (clicks) => {
        const cap = capOf(4)
        const seen = new Map<string, number>()
        for (const { address, link, minute } of clicks.toSorted((a, b) => a.minute - b.minute)) {
          const pair = `${address} ${link} ${minute}`
          const before = seen.get(pair) ?? 0
          seen.set(pair, before + 1)
          const at = NOON + minute * MINUTE_MICROS
          assert.equal(cap.admits(cap.addressNumber(address), link, at), before < 4)
        }
      }),
      cases(200),
    )
  })

  test('remembers a flooding address while many others arrive', () => {
    const cap = capOf(10)
    assert.equal(admitted(cap, 15, { address: 'flood' }), 10)
    for (let n = 0; n < 2 * PAIRS_MAX; n += 1) admitted(cap, 1, { address: `visitor ${n}` })
    assert.equal(admitted(cap, 100, { address: 'flood' }), 0)
  })

  test('caps no address early, however many addresses arrive', () => {
    const cap = capOf(2)
    for (let n = 0; n < 2 * PAIRS_MAX; n += 1) admitted(cap, 2, { address: `visitor ${n}` })
    assert.equal(cap.capped, 0)
  })

  test('forgets few pairs while the table is a quarter full, of one address or of one link', () => {
    for (const pairOf of [
      (n: number) => ({ link: n }),
      (n: number) => ({ link: n * 1_024 }),
      (n: number) => ({ address: `2001:db8:${n.toString(16)}::/64` }),
    ]) {
      const cap = capOf(1)
      let admittedTwice = 0
      for (let n = 1; n <= PAIRS_MAX / 4; n += 1) admitted(cap, 1, pairOf(n))
      for (let n = 1; n <= PAIRS_MAX / 4; n += 1) admittedTwice += admitted(cap, 1, pairOf(n))
      assert.ok(admittedTwice < PAIRS_MAX / 200, `${admittedTwice} were forgotten`)
    }
  })
})
