import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rawVisit } from '../../test/redirect/click/raw-visits.ts'
import { BROWSER } from '../../test/support/visit.ts'
import { networksOf } from '../platform/network/ip-address.ts'
import { MachineVisits } from './machine-visits.ts'

const PERSON = { userAgent: BROWSER, address: '198.51.100.7', method: 'GET' }

describe('MachineVisits', () => {
  const cases: [string, Parameters<typeof rawVisit>[0], boolean][] = [
    ['a browser', {}, false],
    ['curl, with which people try links', { userAgent: 'curl/8.5.0' }, false],
    ['a browser within an app', { userAgent: `${BROWSER} Instagram 300.0` }, false],
    ['a crawler', { userAgent: 'Mozilla/5.0 (compatible; bingbot/2.0)' }, true],
    ['a messenger', { userAgent: 'Slackbot-LinkExpanding 1.0' }, true],
    ['a mail scanner', { userAgent: `${BROWSER} Barracuda Sentinel (EE)` }, true],
    ['Word', { userAgent: 'Microsoft Office Word 2014 (16.0.17328) Windows NT 10.0' }, true],
    ['Excel', { userAgent: 'Mozilla/4.0 (compatible; ms-office; MSOffice 16)' }, true],
    ['no agent', { userAgent: undefined }, true],
    ['a page loaded in advance', { secPurpose: 'prefetch;prerender' }, true],
    ['HEAD', { method: 'HEAD' }, true],
    ['a named network', { address: '203.0.113.200' }, true],
  ]
  for (const [name, facts, expected] of cases) {
    test(`${expected ? 'recognises' : 'takes for a person'}: ${name}`, () => {
      const machines = new MachineVisits(networksOf(['203.0.113.0/24']))
      assert.equal(machines.isMachine(rawVisit({ ...PERSON, ...facts }), 1, 7), expected)
    })
  }

  test('takes a GET for a scanner for a minute after a HEAD of the same visitor and link', (t) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    const machines = new MachineVisits(networksOf([]))
    const get = (link: number, visitor: number) =>
      machines.isMachine(rawVisit(PERSON), link, visitor)
    machines.isMachine(rawVisit({ ...PERSON, method: 'HEAD' }), 1, 7)
    nowMs = 59_999
    assert.equal(get(1, 7), true)
    assert.equal(get(2, 7), false, 'another link')
    assert.equal(get(1, 8), false, 'another visitor')
    nowMs = 60_000
    assert.equal(get(1, 7), false)
  })

  test('remembers a bounded number of visitors, the latest', () => {
    const machines = new MachineVisits(networksOf([]))
    const head = rawVisit({ ...PERSON, method: 'HEAD' })
    for (let visitor = 0; visitor < 20_000; visitor += 1) machines.isMachine(head, 1, visitor)
    assert.equal(machines.isMachine(rawVisit(PERSON), 1, 0), false)
    assert.equal(machines.isMachine(rawVisit(PERSON), 1, 19_999), true)
  })
})
