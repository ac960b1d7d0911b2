import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { type DnsResponder, NXDOMAIN, startDnsResponder } from '../support/dns-responder.ts'
import { ENGINES } from '../support/engines.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { keepCertificate } from '../support/https.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { DOMAIN_FIELDS } from './domain-fields.ts'

const OURS = '192.0.2.10'
const ALL = 'include=links,dns,https,default'

for (const engine of ENGINES) {
  describe(`what lists of domains include, on ${engine.title}`, () => {
    let dns: DnsResponder
    let service: Service
    let acme: Api
    let isSilent = false
    /** By type and name: `A go.example`. */
    const records = new Map<string, ReadonlySet<string>>()
    before(async () => {
      dns = await startDnsResponder(({ type, name }) => {
        if (isSilent) return 'silence'
        const values = records.get(`${type} ${name}`)
        if (values === undefined) return { rcode: NXDOMAIN }
        return { answers: [...values].map((data) => ({ type: type as 'A', name, ttl: 0, data })) }
      })
      service = await startService(engine, {
        TERSE_DNS_SERVERS: dns.address,
        TERSE_DNS_TARGET: 'go.terse.example',
        TERSE_PUBLIC_ADDRESSES: OURS,
      })
      acme = await service.api()
    })
    after(async () => {
      await service.stop()
      await dns.stop()
    })

    const create = async (domain: string, api = acme): Promise<string> =>
      expectStatus(await api.post('/domains', { domain }), 201).body.id
    const verify = async (id: string, api = acme) =>
      expectStatus(await api.post(`/domains/${id}/verify`, undefined), 200).body
    const shown = async (host: string, query = ALL, api = acme) =>
      expectStatus(await api.get(`/domains?domain=${host}&${query}`), 200).body.data[0]
    async function prove(id: string, api = acme) {
      const report = expectStatus(await api.get(`/domains/${id}/dns`), 200).body
      const [name, value] = [`TXT _terse.${report.domain}`, report.records[0].value]
      records.set(name, new Set([...(records.get(name) ?? []), value]))
      records.set(`A ${report.domain}`, new Set([OURS]))
      return verify(id, api)
    }

    test('returns the 8 fields alone unless more is requested', async () => {
      await create('plain.acme.example')
      const plain = await shown('plain.acme.example', 'per_page=1')
      assert.deepEqual(Object.keys(plain), DOMAIN_FIELDS)
      const linked = await shown('plain.acme.example', 'include=links')
      assert.deepEqual(Object.keys(linked), [...DOMAIN_FIELDS, 'links'])
      expectInvalid(await acme.get('/domains?include=clicks'), 'include')
    })

    test('returns the settings of each domain, also of one whose settings were never changed', async () => {
      const id = await create('settled.acme.example')
      const usual = await shown('settled.acme.example', 'include=settings')
      assert.deepEqual(Object.keys(usual), [...DOMAIN_FIELDS, 'settings'])
      assert.deepEqual([usual.settings.root_url, usual.settings.updated_at], [null, null])
      const settings = { root_url: 'https://acme.example/', managed_by: 'flyers' }
      const { body } = expectStatus(await acme.patch(`/domains/${id}/settings`, settings), 200)
      assert.deepEqual((await shown('settled.acme.example', 'include=settings')).settings, body)
      await create('settled.acme.example', await service.api('stranger'))
      const theirs = await service.api('stranger')
      const { settings: other } = await shown('settled.acme.example', 'include=settings', theirs)
      assert.equal(other.root_url, null)
    })

    test('counts the links of each domain, those of this workspace alone', async () => {
      const other = await service.api('namesake')
      for (const [api, key] of [
        [acme, 'one'],
        [acme, 'Two'],
        [acme, 'two'],
        [other, 'theirs'],
      ] as const) {
        const link = { domain: 'counted.acme.example', key, url: 'https://example.com/' }
        expectStatus(await api.post('/links', link), 201)
      }
      assert.equal((await shown('counted.acme.example')).links, 3)
      assert.equal((await shown('counted.acme.example', 'include=links', other)).links, 1)
      await create('bare.acme.example')
      assert.equal((await shown('bare.acme.example')).links, 0)
    })

    test('needs the scope links:read for the number of links', async () => {
      const reader = await service.api('acme', ['domains:read'])
      expectProblem(await reader.get('/domains?include=links'), 'missing_scope')
      expectStatus(await reader.get('/domains?include=dns,https'), 200)
    })

    test('returns what the last check found, and whether another workspace has the domain', async () => {
      const host = 'xn--mnchen-3ya.example'
      const id = await create('münchen.example')
      assert.equal((await verify(id)).verdict, 'unproved')
      const unproved = await shown(host)
      assert.equal(unproved.dns.verdict, 'unproved')
      assert.equal(unproved.dns.unicode_domain, 'münchen.example')
      assert.equal(unproved.dns.is_active_elsewhere, false)
      assert.ok(unproved.dns.last_check_at < unproved.dns.next_check_at)

      const rival = await service.api('rival')
      const theirs = await create(host, rival)
      assert.equal((await prove(theirs, rival)).status, 'active')
      // Without the proof, the domain's own state does not reveal who has it.
      assert.equal((await shown(host)).dns.is_active_elsewhere, false)
      assert.equal((await shown(host, ALL, rival)).dns.verdict, 'proved')
      const late = await service.api('late')
      assert.equal((await prove(await create(host, late), late)).status, 'pending')
      const held = (await shown(host, ALL, late)).dns
      assert.deepEqual([held.verdict, held.is_active_elsewhere], ['proved', true])
    })

    test('returns whether new links start on the domain', async () => {
      const [chosen, other] = ['chosen.acme.example', 'unchosen.acme.example'] as const
      for (const host of [chosen, other]) await create(host)
      expectStatus(await acme.put('/default-domain', { domain: chosen }), 200)
      const isDefault = async (host: string) => (await shown(host, 'include=default')).is_default
      assert.equal(await isDefault(chosen), true)
      assert.equal(await isDefault(other), false)
    })

    test('returns the certificate of an active domain, and its HSTS setting', async () => {
      const host = 'secure.acme.example'
      const id = await create(host)
      const life = {
        notBefore: new Date('2026-01-01T00:00:00Z'),
        notAfter: new Date('2026-03-01T00:00:00Z'),
      }
      await keepCertificate(service.instance, host, createTestAuthority().issue(host, life))
      assert.deepEqual((await shown(host)).https, { certificate: null, hsts_max_age: null })
      assert.equal((await prove(id)).status, 'active')
      expectStatus(await acme.put(`/domains/${id}/https`, { hsts_max_age: 300 }), 200)
      const listed = await shown(host)
      assert.deepEqual((await acme.get(`/domains/${id}?${ALL}`)).body, listed)
      assert.deepEqual((await acme.get(`/domains?domain=${host}&cursor=&${ALL}`)).body.data, [
        listed,
      ])
      const { https } = listed
      const { domain, ...alone } = (await acme.get(`/domains/${id}/https`)).body
      assert.equal(domain, host)
      assert.deepEqual(https, alone)
      assert.deepEqual(https, {
        certificate: {
          valid_from: '2026-01-01T00:00:00.000000Z',
          valid_until: '2026-03-01T00:00:00.000000Z',
        },
        hsts_max_age: 300,
      })
    })

    test('forgets the verdict of a domain that is renamed, and answers while DNS is silent', async () => {
      const id = await create('before.acme.example')
      await prove(id)
      assert.equal((await shown('before.acme.example')).dns.verdict, 'proved')
      isSilent = true
      expectStatus(await acme.patch(`/domains/${id}`, { domain: 'after.acme.example' }), 200)
      // A check that is under way may have failed already.
      assert.notEqual((await shown('after.acme.example')).dns.verdict, 'proved')
    })
  })
}
