import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { certificatesOf } from '../../src/app/composition/domains.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { handshake, keepCertificate, visitSecurely } from '../support/https.ts'
import { createLink } from '../support/links.ts'
import { type Service, startService } from '../support/service.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { visit } from '../support/visit.ts'
import { untilCachesAreSaved } from './saved-caches.ts'

const OWN = 'go.acme.test'
const KEPT = 'kept.acme.test'
const CHANGED = 'changed.acme.test'
const REMOVED = 'removed.acme.test'
const DAMAGED = 'damaged.acme.test'
const LATE = 'late.acme.test'
const COLD = 'cold.acme.test'
const SERVED = [OWN, KEPT, CHANGED, REMOVED, DAMAGED]
const DESTINATION = 'https://example.com/'
const REFUSED = /alert handshake failure/

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('HTTPS of a node that starts while PostgreSQL is down', () => {
    const authority = createTestAuthority()
    const ca = authority.certificatePem
    let port: number
    let settings: Record<string, string>
    /** An undisturbed node, and the settings of another with its own proxy to the database. */
    let service: Service
    let network: TcpProxy
    let place: Place
    let node: ServiceProcess
    before(async () => {
      port = await freePort()
      const common = {
        TERSE_SECRET_KEY: randomBytes(32).toString('hex'),
        TERSE_BASE_URL: `https://${OWN}:${port}`,
        TERSE_DOMAIN_PROOF: 'none',
      }
      settings = {
        ...common,
        TERSE_TLS: 'auto',
        TERSE_HTTPS_PORT: String(port),
        TERSE_LINK_COPY: 'on',
        TERSE_ROLES: 'redirect',
        TERSE_STOP_DELAY_SECONDS: '0',
      }
      service = await startService(engine, common)
      const api = await service.api()
      const past = { notBefore: new Date(Date.now() - 9e6), notAfter: new Date(Date.now() - 1e6) }
      for (const host of [...SERVED, LATE, COLD]) {
        await createLink(api, { domain: host, key: 'x' })
        const issued = authority.issue(host, host === LATE ? past : {})
        await keepCertificate(service.instance, host, issued)
      }
      const url = new URL(service.place.databaseUrl ?? '')
      network = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
      url.port = String(network.port)
      place = await engine.createMigratedPlace()
      place = { ...place, env: { ...place.env, TERSE_DATABASE_URL: url.href } }
      node = await startProcess(place, settings)
      settings = { ...settings, TERSE_PORT: String(node.port) }
    })
    after(async () => {
      await node?.stop()
      await network?.close()
      await service?.stop()
      await place?.remove()
    })

    /** Returns the destination of a visitor who trusts only the test's authority. */
    async function follow(host: string): Promise<string | number> {
      const { status, headers } = await visitSecurely(port, host, '/x', { ca })
      return headers.location ?? status
    }

    async function followPlain(host: string): Promise<string | number> {
      const { status, headers } = await visit(node.port, '/x', { host })
      return headers.location ?? status
    }

    async function serialOf(host: string): Promise<string | undefined> {
      const socket = await handshake(port, host, { ca })
      const serial = socket.getPeerX509Certificate()?.serialNumber
      socket.destroy()
      return serial
    }

    const copies = () => path.join(place.dataDir, 'link-copy')

    test('works for the hosts that it served before, and rejects all others', async () => {
      for (const host of SERVED) assert.equal(await follow(host), DESTINATION, host)
      await assert.rejects(follow(LATE), { code: 'CERT_HAS_EXPIRED' })
      assert.equal(await followPlain(LATE), DESTINATION)
      const old = await serialOf(CHANGED)
      await untilCachesAreSaved(place)
      await node.kill()
      network.cut()
      const kept = readdirSync(copies()).map((name) => readFileSync(path.join(copies(), name)))
      const bytes = Buffer.concat(kept).toString('latin1')
      assert.match(bytes, /BEGIN CERTIFICATE/)
      assert.doesNotMatch(bytes, /PRIVATE KEY/)
      damage(path.join(copies(), '0.db'), DAMAGED)
      await keepCertificate(service.instance, CHANGED, authority.issue(CHANGED))
      await service.instance.store.write((stores) =>
        certificatesOf(service.instance).remove(stores, REMOVED),
      )

      node = await startProcess(place, settings)
      assert.match(node.output().stdout, /unavailable: cached links redirect/)
      for (const host of [OWN, KEPT, CHANGED, REMOVED]) {
        assert.equal(await followPlain(host), `https://${host}:${port}/x`, host)
        assert.equal(await follow(host), DESTINATION, host)
      }
      assert.equal(await serialOf(CHANGED), old)
      for (const host of [DAMAGED, COLD]) await assert.rejects(follow(host), REFUSED, host)
      assert.equal(
        await followPlain(DAMAGED),
        DESTINATION,
        'no visitor is redirected to HTTPS without a certificate',
      )
      await assert.rejects(follow(LATE), { code: 'CERT_HAS_EXPIRED' })
      assert.equal(await followPlain(LATE), DESTINATION)
      await eventually(async () =>
        assert.equal(node.output().stderr.match(/kept certificate cannot be used/g)?.length, 1),
      )
    })

    test('uses the changes made in the meantime when PostgreSQL is back', async () => {
      const old = await serialOf(CHANGED)
      network.mend()
      await eventually(async () => {
        assert.notEqual(await serialOf(CHANGED), old)
        await assert.rejects(follow(REMOVED), REFUSED)
        assert.equal(await followPlain(REMOVED), DESTINATION)
        for (const host of [DAMAGED, COLD]) assert.equal(await follow(host), DESTINATION)
      })
      assert.equal(await follow(KEPT), DESTINATION)
      assert.equal(await node.stop(), 0)
    })

    test('is rejected when the secret key is another, while visits over plain HTTP work', async () => {
      network.cut()
      const other = { ...settings, TERSE_SECRET_KEY: randomBytes(32).toString('hex') }
      node = await startProcess(place, other)
      await assert.rejects(follow(KEPT), REFUSED)
      assert.equal(await followPlain(KEPT), DESTINATION)
      await node.kill()
      node = await startProcess(place, settings)
      assert.equal(await follow(KEPT), DESTINATION, 'the copy is as it was')
      assert.equal(await followPlain(CHANGED), `https://${CHANGED}:${port}/x`)
      await assert.rejects(follow(REMOVED), REFUSED)
    })
  })
}

/** Damages a host's certificate in a copy that no process has open. */
function damage(file: string, host: string): void {
  const database = new DatabaseSync(file)
  const { changes } = database
    .prepare("update entries set value = replace(value, 'sealedKey', 'SealedKey') where name = ?")
    .run(host)
  database.close()
  assert.ok(changes > 0)
}
