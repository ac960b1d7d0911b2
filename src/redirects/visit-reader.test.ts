import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, test } from 'node:test'
import { visitHeadersOf } from '../platform/http/request-target.ts'
import { Networks } from '../platform/network/ip-address.ts'
import { type Exchange, visitReader } from './exchange.ts'

const PROXY = '10.0.0.1'
const VISITOR = '203.0.113.9'

function exchangeFrom(remoteAddress: string, headers: IncomingHttpHeaders = {}): Exchange {
  return {
    method: 'GET',
    target: { host: 'go.example.com', path: '/key', query: '' },
    headers: visitHeadersOf(headers),
    remoteAddress,
    startedMs: 0,
    isEncrypted: false,
    isAnswered: false,
    answer: () => assert.fail('nothing is answered here'),
    abandon: () => assert.fail('nothing is abandoned here'),
  }
}

describe('visitReader', () => {
  const trustedProxies = new Networks()
  trustedProxies.add(PROXY)
  const { addressOf, isSecure, rawVisitOf } = visitReader(trustedProxies)
  const forwarded = { 'x-forwarded-for': VISITOR, 'x-forwarded-proto': 'https' }

  test('believes a trusted proxy’s forwarded headers', () => {
    const exchange = exchangeFrom(PROXY, forwarded)
    assert.equal(addressOf(exchange), VISITOR)
    assert.equal(rawVisitOf(exchange, 0).address, VISITOR)
    assert.equal(isSecure(exchange), true)
    const twice = { 'x-forwarded-for': ['192.0.2.1', VISITOR] }
    assert.equal(addressOf(exchangeFrom(PROXY, twice)), VISITOR)
  })

  for (const { name, from, sent, isForwarded } of [
    { name: 'a direct visit', from: VISITOR, sent: undefined, isForwarded: false },
    { name: 'a proxy that is not trusted', from: VISITOR, sent: '192.0.2.1', isForwarded: true },
    { name: 'a trusted proxy', from: PROXY, sent: VISITOR, isForwarded: false },
    {
      name: 'a trusted proxy that sends no address',
      from: PROXY,
      sent: 'unknown',
      isForwarded: true,
    },
    {
      name: 'a visitor on the machine of the trusted proxy',
      from: PROXY,
      sent: PROXY,
      isForwarded: false,
    },
  ]) {
    test(`${isForwarded ? 'reports' : 'does not report'} a hidden visitor for ${name}`, () => {
      const headers = sent === undefined ? {} : { 'x-forwarded-for': sent }
      assert.equal(rawVisitOf(exchangeFrom(from, headers), 0).isForwarded, isForwarded)
    })
  }

  test('ignores forwarded headers from any other client', () => {
    const exchange = exchangeFrom(VISITOR, { ...forwarded, 'x-forwarded-for': '192.0.2.1' })
    assert.equal(addressOf(exchange), VISITOR)
    assert.equal(rawVisitOf(exchange, 0).address, VISITOR)
    assert.equal(isSecure(exchange), false)
    assert.equal(isSecure({ ...exchange, isEncrypted: true }), true)
  })
})
