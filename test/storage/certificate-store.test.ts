import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { FullStore } from '../../src/app/database/stores.ts'
import { KeyVault } from '../../src/certificates/account-manager.ts'
import type { Certificate } from '../../src/certificates/certificate.ts'
import { Certificates } from '../../src/certificates/certificates.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addDomain, addWorkspace, NOW, newSealedCertificate, unique } from './samples.ts'

const SECRET = '-----BEGIN PRIVATE KEY-----\nthis is secret\n-----END PRIVATE KEY-----\n'

describeStore('stored certificates', (at) => {
  const vault = new KeyVault(randomBytes(32), systemRandom)
  const service = () => new Certificates({ store: at.store, vault, clock: systemClock() })
  const save = (certificate: Certificate) =>
    at.store.write((stores) => service().save(stores, certificate))

  function newCertificate(overrides: Partial<Certificate> = {}): Certificate {
    const { sealedKey, ...facts } = newSealedCertificate()
    return { ...facts, keyPem: SECRET, ...overrides }
  }

  test('are returned with their private key and the data that renewal needs', async () => {
    const window = { start: NOW + 5, end: NOW + 7 }
    for (const certificate of [
      newCertificate(),
      newCertificate({ ariId: 'aki.serial', renewalWindow: window }),
    ]) {
      await save(certificate)
      same(await service().find(certificate.host), certificate)
      same(await at.store.read.certificates.findLife(certificate.host), {
        notBefore: certificate.notBefore,
        notAfter: certificate.notAfter,
      })
    }
    assert.equal(await service().find('nobody.example'), undefined)
    assert.equal(await at.store.read.certificates.findLife('nobody.example'), undefined)
  })

  test('are encrypted in the database, and cannot be moved to another host', async () => {
    const certificate = newCertificate()
    await save(certificate)
    const row = await at.db
      .selectFrom('certificates')
      .selectAll()
      .where('host', '=', certificate.host)
      .executeTakeFirstOrThrow()
    assert.ok(!JSON.stringify(row).includes('secret'))
    assert.ok(!Buffer.from(row.private_key, 'base64').includes('secret'))
    const stolen = newSealedCertificate({ sealedKey: row.private_key })
    await at.store.write((stores) => stores.certificates.save(stolen, NOW))
    await assert.rejects(service().find(stolen.host), /cannot be unsealed/)
  })

  test('replace the previous certificate, and append a change that every node reads', async () => {
    const old = newCertificate({ ariId: 'old', renewalWindow: { start: 1, end: 2 } })
    await save(old)
    const reader = (await at.another()).store
    const cursor = await reader.read.changes.end()
    const renewed = {
      ...old,
      chainPem: 'newer',
      notAfter: NOW + 9,
      ariId: 'new',
      renewalWindow: null,
    }
    await save(renewed)
    same(await service().find(old.host), renewed)
    await assertTold(reader, cursor, old.host)
  })

  test('store renewal advice about the current certificate, and ignore advice about the previous one', async () => {
    const certificate = newCertificate({ ariId: 'present' })
    await save(certificate)
    const window = { start: NOW + 1, end: NOW + 2 }
    const note = (ariId: string) =>
      at.store.write((stores) =>
        stores.certificates.setRenewalWindow(certificate.host, ariId, window),
      )
    await note('past')
    same(await service().find(certificate.host), certificate)
    await note('present')
    same(await service().find(certificate.host), { ...certificate, renewalWindow: window })
  })

  test('are listed page by page, the earliest expiry first', async () => {
    const end = NOW * 2
    const hosts = ['b', 'a', 'c', 'd'].map((name) => unique(name))
    for (const [index, host] of hosts.entries()) {
      await save(newCertificate({ host, notAfter: end + (index === 3 ? -1 : 1) }))
    }
    const listed: string[] = []
    let last = { host: '', notAfter: end - 2 }
    for (;;) {
      const page = await at.store.read.certificates.list(2, last)
      listed.push(...page.map(({ host }) => host))
      const next = page.at(-1)
      if (next === undefined) break
      last = next
    }
    same(listed, [hosts[3], hosts[1], hosts[0], hosts[2]])
    assert.equal((await at.store.read.certificates.list(1)).length, 1)
  })

  test('append exactly one change when removed', async () => {
    const certificate = newCertificate()
    await save(certificate)
    const cursor = await at.store.read.changes.end()
    const remove = () => at.store.write((stores) => service().remove(stores, certificate.host))
    await remove()
    await remove()
    assert.equal(await service().find(certificate.host), undefined)
    await assertTold(at.store, cursor, certificate.host)
  })
})

/** Expects exactly one change in the log since `cursor`: that of a host's certificate. */
async function assertTold(store: FullStore, cursor: string, host: string): Promise<void> {
  const { changes } = await store.read.changes.since(cursor, 10)
  same(
    changes?.map(({ kind, subject }) => ({ kind, subject })),
    [{ kind: 'certificate', subject: host }],
  )
}

describeStore('the HSTS setting', (at) => {
  test('is stored with its claim, updated, cleared, and deleted with the claim', async () => {
    const workspace = await addWorkspace(at.store)
    const { id } = await addDomain(at.store, workspace.id)
    const find = () => at.store.read.hsts.find(id)
    assert.equal(await find(), undefined)
    await at.store.write((stores) => stores.hsts.save(id, 300))
    assert.equal(await find(), 300)
    await at.store.write((stores) => stores.hsts.save(id, 31_536_000))
    assert.equal(await find(), 31_536_000)
    await at.store.write((stores) => stores.hsts.remove(id))
    assert.equal(await find(), undefined)
    await at.store.write((stores) => stores.hsts.save(id, 300))
    await at.store.write((stores) => stores.domains.delete(workspace.id, id))
    assert.equal(await find(), undefined)
  })
})
