import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CLICK_FLAGS } from '../../../src/domain/clicks/click.ts'
import { clickMaker } from '../../../src/redirect/click/click-maker.ts'
import type { DaySalt } from '../../../src/redirect/click/visitor-salts.ts'
import { AGENTS } from '../agents.ts'
import { rawVisit } from './raw-visits.ts'

const saltOf = (day: number): DaySalt => ({ day, text: String(day), key: [day, 2, 3, 4] })

describe('a click', () => {
  let salt = saltOf(1)
  const makeClick = clickMaker({
    salts: { at: () => salt },
    countries: (address) => (address.startsWith('192.0.2.') ? 'CH' : ''),
  })
  const visitorOf = (address: string, userAgent?: string) =>
    makeClick(7, rawVisit({ address, userAgent })).visitor

  test('tells what the headers tell', () => {
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
      country: 'CH',
      device: 'mobile',
      os: 'iOS',
      browser: 'Safari',
      referrer: 'news.example.com',
      language: 'de',
      source: 'qr',
    })
    assert.ok(Number.isSafeInteger(visitor) && visitor >= 0)
  })

  test('leaves empty what is not known', () => {
    const { visitor, ...rest } = makeClick(7, rawVisit())
    assert.deepEqual(rest, {
      at: rawVisit().at,
      link_seq: 7,
      flags: CLICK_FLAGS.noUserAgent,
      country: '',
      device: '',
      os: '',
      browser: '',
      referrer: '',
      language: '',
      source: 'direct',
    })
  })

  test('says why it does not count', () => {
    const { bot, head, prefetch } = CLICK_FLAGS
    const visit = rawVisit({ method: 'HEAD', userAgent: AGENTS.googlebot, purpose: 'prefetch' })
    assert.equal(makeClick(7, visit).flags, bot + head + prefetch)
    assert.equal(makeClick(7, rawVisit({ method: 'POST', userAgent: AGENTS.iPhone })).flags, 0)
  })

  test('names one visitor alike all day, and others otherwise', () => {
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

  test('takes the addresses that an IPv6 subscriber has for one', () => {
    const visitor = visitorOf('2001:db8::1', AGENTS.iPhone)
    assert.equal(visitorOf('2001:db8::ffff:1', AGENTS.iPhone), visitor)
    assert.equal(visitorOf('2001:0db8:0:0:1::', AGENTS.iPhone), visitor)
  })

  test('names a visitor otherwise under another salt, and alike again under the first', () => {
    const before = visitorOf('192.0.2.1', AGENTS.iPhone)
    salt = saltOf(2)
    const later = visitorOf('192.0.2.1', AGENTS.iPhone)
    assert.notEqual(later, before)
    assert.equal(visitorOf('192.0.2.1', AGENTS.iPhone), later)
    salt = saltOf(1)
    assert.equal(visitorOf('192.0.2.1', AGENTS.iPhone), before)
  })
})
