import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { type FakeDns, fakeDns } from '../../../test/support/fake-dns.ts'
import { observeDns } from '../../domains/dns-judgement.ts'
import { serviceAddresses } from '../../domains/dns-records.ts'
import type { CertificateStanding } from '../../domains/domain.ts'
import { proxyFinding, routingFindings, shownFinding, storedFindings } from './host-findings.ts'

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

const HOUR_MICROS = 3_600_000_000
const clock = fakeClock()
const NOW = clock.nowMicros()
const NONE: CertificateStanding = { life: null, problem: null, nextAttemptAt: null }
const at = (hours: number) => NOW + hours * HOUR_MICROS
const life = (hours: number) => ({ notBefore: at(-1), notAfter: at(hours) })
const asIso = (micros: number) => new Date(micros / 1_000).toISOString()

describe('storedFindings of the doctor', () => {
  const found = (standing: CertificateStanding | undefined, host = HOST) =>
    storedFindings(true, host, standing, clock)
  const states = (standing: CertificateStanding) => found(standing).map(({ state }) => state)

  test('reports ok, a warning or a problem by the time left until the certificate expires', () => {
    assert.deepEqual(states({ ...NONE, life: life(25) }), ['ok'])
    assert.deepEqual(states({ ...NONE, life: life(23) }), ['warning'])
    assert.deepEqual(states({ ...NONE, life: life(0) }), ['problem'])
    const [finding] = found({ ...NONE, life: life(25) })
    assert.equal(finding?.text, `the stored certificate is valid until ${asIso(at(25))}`)
  })

  test('reports a failed renewal, as a warning while the current certificate lasts', () => {
    const problem = 'the name leads elsewhere'
    assert.deepEqual(states({ ...NONE, life: life(25), problem }), ['ok', 'warning'])
    assert.deepEqual(states({ ...NONE, life: life(23), problem }), ['warning', 'problem'])
    const [, next] = found({ ...NONE, life: life(25), problem })
    assert.equal(next?.text, `the renewal failed: ${problem}`)
  })

  test('reports that the first order failed, and when it is retried', () => {
    const [finding, ...others] = found({ ...NONE, problem: 'refused', nextAttemptAt: at(2) })
    assert.deepEqual(others, [])
    assert.equal(finding?.state, 'problem')
    assert.equal(finding.text, 'the first order failed: refused')
    assert.ok(finding.advice?.endsWith(` The next attempt is at ${asIso(at(2))}.`))
  })

  test('reports a missing certificate, and skips the check when TLS is off or the host needs none', () => {
    assert.deepEqual(states(NONE), ['warning'])
    assert.deepEqual(found(undefined), found(NONE), 'unknown while the database is unavailable')
    assert.equal(found(NONE, 'go.localhost')[0]?.state, 'skipped')
    assert.equal(storedFindings(false, HOST, NONE, clock)[0]?.state, 'skipped')
  })
})

describe('shownFinding of the doctor', () => {
  test('reports when the served certificate expires, and its issuer', () => {
    const shown = { kind: 'served', issuer: 'CN=Test', error: undefined } as const
    const ending = (hours: number) =>
      shownFinding({ ...shown, validUntil: new Date(at(hours) / 1_000) }, clock)
    assert.deepEqual(
      [25, 23, -1].map(ending).map(({ state }) => state),
      ['ok', 'warning', 'problem'],
    )
    const until = asIso(at(25))
    assert.equal(
      ending(25).text,
      `visitors receive one from CN=Test, which is valid until ${until}`,
    )
  })

  test('reports why browsers refuse the certificate, whatever its expiry', () => {
    const validUntil = new Date(at(25) / 1_000)
    const shown = { kind: 'served', issuer: 'CN=Test', validUntil, error: 'SELF_SIGNED' } as const
    const { state, text } = shownFinding(shown, clock)
    assert.equal(state, 'problem')
    assert.match(text, /refuse \(SELF_SIGNED\), from CN=Test$/)
  })

  test('warns when no certificate is served, and skips the check when none was fetched', () => {
    assert.equal(shownFinding({ kind: 'none', reason: 'ECONNREFUSED' }, clock).state, 'warning')
    assert.equal(shownFinding(undefined, clock).state, 'skipped')
  })
})
