import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { type FakeDns, fakeDns } from '../../../test/support/fake-dns.ts'
import { observeDns } from '../../domains/dns-observation.ts'
import { serviceAddresses } from '../../domains/service-target.ts'
import { proxyFinding, routingFindings } from './routing-findings.ts'

const HOST = 'go.acme.test'
const TARGET = { host: 'service.test' }
const OURS = '192.0.2.10'
const THEIRS = '198.51.100.1'

describe('what the doctor finds of where a host leads', () => {
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

  test('is its way here, by alias and address', async () => {
    const { routing, proxy } = await found((dns) => dns.set(HOST, 'CNAME', TARGET.host))
    const text = `${HOST} → ${TARGET.host} → ${OURS}`
    assert.deepEqual(routing, [{ subject: 'routing', state: 'ok', text }])
    assert.equal(proxy.state, 'ok')
  })

  test('is each address that is somebody else’s', async () => {
    const { routing } = await found((dns) => dns.set(HOST, 'A', OURS, THEIRS))
    const [way, stray, ...others] = routing
    assert.deepEqual(others, [])
    assert.equal(way?.state, 'ok')
    assert.equal(stray?.subject, 'address')
    assert.equal(stray.state, 'problem')
    assert.ok(stray.advice?.includes(THEIRS))
  })

  test('is that it leads elsewhere or nowhere, and the record to set', async () => {
    const elsewhere = await found((dns) => dns.set(HOST, 'A', THEIRS))
    assert.equal(elsewhere.routing[0]?.state, 'problem')
    assert.equal(elsewhere.routing[0].text, `${HOST} → ${THEIRS}`)
    const nowhere = await found(() => {})
    assert.equal(nowhere.routing[0]?.state, 'problem')
    assert.equal(nowhere.routing[0].text, `${HOST} leads nowhere`)
    assert.ok(nowhere.routing[0].advice?.includes(`CNAME go → ${TARGET.host}`))
  })

  test('is no problem of the host where DNS does not answer', async () => {
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

  test('is a proxy in front, which hides it', async () => {
    const { proxy } = await found((dns) => dns.set(HOST, 'A', '104.16.0.1'))
    assert.equal(proxy.state, 'warning')
    assert.match(proxy.text, /^Cloudflare is in front$/)
  })
})
