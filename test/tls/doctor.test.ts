import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Finding } from '../../src/operations/doctor/host-findings.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { keepCertificate } from '../support/https.ts'
import { skipWithout } from '../support/programs.ts'
import { runCli } from '../support/run-cli.ts'
import { type Service, startService } from '../support/service.ts'
import { createTestAuthority } from '../support/test-authority.ts'

const HOUR_MS = 3_600_000
const authority = createTestAuthority()

describe("the doctor's report on certificates", { skip: skipWithout('knotd') }, () => {
  let dns: DnsServer
  let service: Service
  let env: Record<string, string>
  before(async () => {
    dns = await startDnsServer(
      ['go', 'fine', 'soon', 'over', 'none'].map((name) => `${name} A 127.0.0.1`),
    )
    const port = await freePort()
    const settings = {
      TERSE_TLS: 'auto',
      TERSE_HTTPS_PORT: String(port),
      TERSE_BASE_URL: `https://go.test:${port}`,
      TERSE_DNS_SERVERS: dns.address,
      TERSE_DOMAIN_PROOF: 'routing',
    }
    service = await startService(SQLITE, settings)
    const trusted = path.join(service.place.dataDir, 'authority.pem')
    writeFileSync(trusted, authority.certificatePem)
    env = { ...service.place.env, ...settings, NODE_EXTRA_CA_CERTS: trusted }
    const now = Date.now()
    for (const [name, hours] of [
      ['fine', 24 * 60],
      ['soon', 12],
      ['over', -1],
    ] as const) {
      const host = `${name}.test`
      const life = {
        notBefore: new Date(now - 90 * HOUR_MS),
        notAfter: new Date(now + hours * HOUR_MS),
      }
      await keepCertificate(service.instance, host, authority.issue(host, life))
    }
  })
  after(async () => {
    await service.stop()
    await dns.stop()
  })

  async function examine(host: string, extra: Record<string, string> = {}) {
    const { stdout, stderr } = await runCli(['doctor', host, '--json'], { ...env, ...extra })
    assert.equal(stderr, '')
    const findings: Finding[] = JSON.parse(stdout)
    const about = (subject: string) => findings.find((finding) => finding.subject === subject)
    return { certificate: about('certificate'), https: about('https') }
  }

  test('contains the expiry of the stored certificate, and of the one that visitors get', async () => {
    const { certificate, https } = await examine('fine.test')
    assert.equal(certificate?.state, 'ok')
    assert.match(certificate?.text ?? '', /is valid until 20\d\d-/)
    assert.equal(https?.state, 'ok')
    assert.match(https?.text ?? '', /from CN=Terse test authority.*is valid until 20\d\d-/)
  })

  test('warns of a certificate that expires soon, and reports one that has expired', async () => {
    const soon = await examine('soon.test')
    assert.deepEqual([soon.certificate?.state, soon.https?.state], ['warning', 'warning'])
    assert.match(soon.https?.advice ?? '', /renewed/)
    const over = await examine('over.test')
    assert.deepEqual([over.certificate?.state, over.https?.state], ['problem', 'problem'])
    assert.match(over.https?.text ?? '', /CERT_HAS_EXPIRED/)
  })

  test('reports a missing certificate, and an authority that browsers do not trust', async () => {
    const none = await examine('none.test')
    assert.deepEqual([none.certificate?.state, none.https?.state], ['warning', 'warning'])
    const strange = await examine('fine.test', { NODE_EXTRA_CA_CERTS: '' })
    assert.deepEqual([strange.certificate?.state, strange.https?.state], ['ok', 'problem'])
    assert.match(strange.https?.text ?? '', /browsers refuse \(SELF_SIGNED_CERT_IN_CHAIN\)/)
  })
})
