import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { type FakeDns, fakeDns } from '../../../test/support/fake-dns.ts'
import { observeDns } from '../../domains/dns-judgement.ts'
import { serviceAddresses } from '../../domains/dns-records.ts'
import { proxyFinding, routingFindings } from './routing-findings.ts'

const HOST = 'go.acme.test'
const TARGET = { host: 'service.test' }
const OURS = '192.0.2.10'
const THEIRS = '198.51.100.1'

describe('routingFindings and proxyFinding of the doctor', () => {
  async function found(prepare: (dns: FakeDns) => void, known: readonly string[] = []) {
    const target = { ...TARGET, addresses: known }
    const dns = fakeDns()
    const clock = fakeClock()
    dns.set(TARGET.host, 'A', OURS)
    prepare(dns)
    const addresses = await serviceAddresses(target, dns, clock)()
    const observation = await observeDns(dns, HOST, clock)
    return {
      routing: routingFindings(HOST, observation, addresses, target),
      proxy: proxyFinding(observation),
    }
  }

  test('report the way to the service, by alias and address', async () => {
    const { routing, proxy } = await found((dns) => dns.set(HOST, 'CNAME', TARGET.host))
    const text = `${HOST} → ${TARGET.host} → ${OURS}`
    assert.deepEqual(routing, [{ subject: 'routing', state: 'ok', text }])
    assert.equal(proxy.state, 'ok')
  })

  test('report each foreign address as a problem', async () => {
    const { routing } = await found((dns) => dns.set(HOST, 'A', OURS, THEIRS))
    const [way, stray, ...others] = routing
    assert.deepEqual(others, [])
    assert.equal(way?.state, 'ok')
    assert.equal(stray?.subject, 'address')
    assert.equal(stray.state, 'problem')
    assert.ok(stray.advice?.includes(THEIRS))
  })

  test('report a host that leads elsewhere or nowhere, with the record to set', async () => {
    const elsewhere = await found((dns) => dns.set(HOST, 'A', THEIRS))
    assert.equal(elsewhere.routing[0]?.state, 'problem')
    assert.equal(elsewhere.routing[0].text, `${HOST} → ${THEIRS}`)
    const nowhere = await found(() => {})
    assert.equal(nowhere.routing[0]?.state, 'problem')
    assert.equal(nowhere.routing[0].text, `${HOST} leads nowhere`)
    assert.ok(nowhere.routing[0].advice?.includes(`CNAME go → ${TARGET.host}`))
  })

  test('warn, without blaming the host, when DNS does not answer', async () => {
    const silence = (dns: FakeDns) => {
      dns.silence = { kind: 'unknown', reason: 'timeout' }
    }
    for (const known of [[], [OURS]]) {
      const { routing } = await found(silence, known)
      assert.deepEqual(
        routing.map(({ state }) => state),
        ['warning'],
      )
    }
  })

  test('warn of a proxy in front of the service', async () => {
    const { proxy } = await found((dns) => dns.set(HOST, 'A', '104.16.0.1'))
    assert.equal(proxy.state, 'warning')
    assert.match(proxy.text, /^Cloudflare is in front$/)
  })
})
