import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { openDomains } from '../../src/app/composition/domains.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { removeWorkspaces } from '../../src/app/node/removal.ts'
import { newToken } from '../storage/samples.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { PASSWORD, type PersonClient, personClient, setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const MINUTE = 60
const NOT_CANCELLED = () => false

function openDomainsOf({ place, instance, baseUrl }: Service) {
  const config = readConfig({ ...place.env, TERSE_BASE_URL: baseUrl })
  return openDomains(config, instance, pino({ level: 'silent' })).domains
}

for (const engine of ENGINES) {
  describe(`workspaces and tokens of people on ${engine.title}`, () => {
    let service: Service
    let operator: PersonClient
    let clock: FakeClock
    before(async () => {
      clock = fakeClock()
      service = await startService(engine, { TERSE_DOMAIN_PROOF: 'routing' }, { clock })
      await service.token('acme')
      operator = await setUp(service)
    })
    after(() => service.stop())

    const authenticate = async (client: PersonClient) =>
      expectStatus(await client.post('/session/authenticate', { password: PASSWORD }), 200)
    const create = async (name = `w-${randomUUID().slice(0, 8)}`) => {
      const { body } = expectStatus(await operator.post('/workspaces', { name }), 201)
      operator.workspaceId = body.id
      return body
    }
    const joinAs = async (role: string, email: string) => {
      const { body } = expectStatus(await operator.post('/invitations', { email, role }), 201)
      const code = new URL(body.url).hash.replace('#code=', '')
      const client = personClient(service)
      const given = { code, name: email, password: PASSWORD }
      const answer = expectStatus(await client.post('/invitations/accept', given), 201)
      client.workspaceId = operator.workspaceId
      return { client, id: answer.body.person.id as string }
    }

    test('an operator creates a workspace and owns it; others create none', async () => {
      const workspace = await create('marketing')
      assert.equal(workspace.role, 'owner')
      const { client } = await joinAs('admin', 'admin@example.com')
      expectProblem(await client.post('/workspaces', { name: 'mine' }), 'missing_role')
      const taken = await operator.post('/workspaces', { name: 'marketing' })
      expectProblem(taken, 'validation_failed', ['name'])
      const { body } = await client.get('/workspaces')
      assert.deepEqual(
        body.data.map(({ name, role }: { name: string; role: string }) => [name, role]),
        [['marketing', 'admin']],
      )
    })

    test('a workspace has a title in any letters beside its name, which follows from it', async () => {
      const names: string[] = []
      for (const _ of ['first', 'second']) {
        const { body } = expectStatus(
          await operator.post('/workspaces', { title: 'Größe GmbH' }),
          201,
        )
        assert.equal(body.title, 'Größe GmbH')
        names.push(body.name)
        operator.workspaceId = body.id
      }
      assert.deepEqual(names, ['grosse-gmbh', 'grosse-gmbh-2'])
      const path = `/workspaces/${operator.workspaceId}`
      const patched = async (changes: object) => {
        const { body } = expectStatus(await operator.patch(path, changes), 200)
        return [body.name, body.title]
      }
      assert.deepEqual(await patched({ title: 'Größe' }), ['grosse-gmbh-2', 'Größe'])
      assert.deepEqual(await patched({ name: 'grosse' }), ['grosse', 'Größe'])
      const { body } = expectStatus(await operator.get('/session'), 200)
      const own = body.memberships.find(
        (one: { workspace_name: string }) => one.workspace_name === 'grosse',
      )
      assert.equal(own.workspace_title, 'Größe')
      assert.deepEqual(await patched({ title: null, name: 'again' }), ['again', 'again'])
      for (const [field, wrong] of [
        ['title', { title: 'Win at evil.com' }],
        ['title', { title: ' ' }],
        ['name', { name: 'Not A Name', title: 'Fine' }],
        ['title', {}],
      ] as const) {
        expectProblem(await operator.post('/workspaces', wrong), 'validation_failed', [field])
      }
    })

    test('an operator sees that a workspace exists, but not what is in it', async () => {
      const { id } = await create()
      const { client, id: successorId } = await joinAs('admin', 'successor@example.com')
      await authenticate(operator)
      // A higher role would end the session of a person whose address is unproved (address-proof.test.ts).
      await service.instance.store.write((stores) =>
        stores.people.update(successorId, { email_proved_at: 1 }),
      )
      expectStatus(await operator.patch(`/members/${successorId}`, { role: 'owner' }), 200)
      expectStatus(await operator.delete(`/workspaces/${id}/membership`), 200)
      const { body } = await operator.get('/workspaces')
      const shown = body.data.find((each: { id: string }) => each.id === id)
      assert.equal(shown.role, null)
      for (const path of ['/links', '/members', '/events', `/workspaces/${id}`]) {
        expectProblem(await operator.get(path), 'not_found')
      }
      expectStatus(await client.get('/members'), 200)
    })

    test('a name is changed for all members at once', async () => {
      const { id } = await create()
      const { client } = await joinAs('admin', 'renamer@example.com')
      expectProblem(
        await client.patch(`/workspaces/${id}`, { name: 'No Good' }),
        'validation_failed',
        ['name'],
      )
      expectProblem(
        await client.patch(`/workspaces/${id}`, { name: 'acme' }),
        'validation_failed',
        ['name'],
      )
      expectStatus(await client.patch(`/workspaces/${id}`, { name: 'renamed' }), 200)
      const { body } = await operator.get('/session')
      const names = body.memberships.map((each: { workspace_name: string }) => each.workspace_name)
      assert.ok(names.includes('renamed'), String(names))
    })

    test('a token shows its secret once, names its creator, and can do no more than that', async () => {
      await create()
      const { client, id } = await joinAs('admin', 'token-maker@example.com')
      const given = { name: 'CI', scopes: ['links:write', 'links:read'] }
      const { body } = expectStatus(await client.post('/tokens', given), 201)
      const api = apiClient(service.baseUrl, body.secret)
      expectStatus(await api.get('/links'), 200)
      const { secret, ...shown } = body
      const { body: list } = await client.get('/tokens')
      assert.deepEqual(shown.created_by, { id, name: 'token-maker@example.com' })
      assert.equal(list.data[0].id, shown.id)
      assert.doesNotMatch(JSON.stringify(list), new RegExp(secret))
      expectProblem(await api.get('/tokens'), 'missing_scope')
      expectStatus(await client.delete(`/tokens/${shown.id}`), 200)
      expectProblem(await api.get('/links'), 'unauthorized')
      expectProblem(await client.delete(`/tokens/${shown.id}`), 'not_found')
    })

    test('a token that administers grants no scope that it lacks', async () => {
      await create()
      const given = { name: 'admin', scopes: ['workspace:admin'] }
      const { body } = expectStatus(await operator.post('/tokens', given), 201)
      const api = apiClient(service.baseUrl, body.secret)
      const more = { name: 'more', scopes: ['workspace:admin', 'links:write'] }
      expectProblem(await api.post('/tokens', more), 'validation_failed', ['scopes'])
      expectStatus(await api.post('/tokens', { ...given, name: 'same' }), 201)
      const asOwner = { email: 'x@example.com', role: 'owner' }
      expectProblem(await api.post('/invitations', asOwner), 'missing_role')
      const asAdmin = { ...asOwner, role: 'admin' }
      expectProblem(await api.post('/invitations', asAdmin), 'validation_failed', ['role'])
    })

    test('tokens need a recent authentication of people, and an expiry to come', async () => {
      await create()
      const given = { name: 'late', scopes: ['links:read'] }
      const past = { ...given, expires_at: '2020-01-01T00:00:00Z' }
      expectProblem(await operator.post('/tokens', past), 'validation_failed', ['expires_at'])
      const never = { ...given, expires_at: '9999-12-31T23:59:59.999999Z' }
      expectProblem(await operator.post('/tokens', never), 'validation_failed', ['expires_at'])
      clock.move(11 * MINUTE)
      expectProblem(await operator.post('/tokens', given), 'authentication_required')
      await authenticate(operator)
      expectStatus(await operator.post('/tokens', given), 201)
    })

    test('a domain with links is deleted after a recent authentication, an empty one without', async () => {
      await create()
      const add = async (domain: string) =>
        expectStatus(await operator.post('/domains', { domain }), 201).body.id as string
      const [empty, used] = [await add('empty.localhost'), await add('used.localhost')]
      const link = { domain: 'used.localhost', url: 'https://example.com/' }
      expectStatus(await operator.post('/links', link), 201)
      clock.move(11 * MINUTE)
      expectStatus(await operator.delete(`/domains/${empty}`), 200)
      expectProblem(await operator.delete(`/domains/${used}`), 'authentication_required')
      expectStatus(await operator.get(`/domains/${used}`), 200)
      await authenticate(operator)
      expectStatus(await operator.delete(`/domains/${used}`), 200)
    })

    test('a deleted workspace is gone for people and tokens, then for visitors', async () => {
      const { id, name } = await create()
      const host = `${name}.localhost`
      const { client: admin } = await joinAs('admin', 'gone@example.com')
      const token = { name: 'gone', scopes: ['links:read'] }
      const { body } = expectStatus(await operator.post('/tokens', token), 201)
      expectStatus(await operator.post('/domains', { domain: host }), 201)
      for (const domain of [host, 'localhost']) {
        const link = { domain, key: `of-${name}`, url: 'https://example.com/' }
        expectStatus(await operator.post('/links', link), 201)
      }
      expectProblem(await admin.delete(`/workspaces/${id}`), 'missing_role')
      expectStatus(await operator.delete(`/workspaces/${id}`), 200)

      expectProblem(await operator.get('/links'), 'not_found')
      expectProblem(await admin.get(`/workspaces/${id}`), 'not_found')
      expectProblem(await apiClient(service.baseUrl, body.secret).get('/links'), 'unauthorized')
      assert.equal(
        (await service.instance.workspaces.list()).some((each) => each.id === id),
        false,
      )
      expectStatus(await operator.post('/workspaces', { name }), 201)

      const { store } = service.instance
      const removal = { store, clock, domains: openDomainsOf(service) }
      const shared = `${service.baseUrl}/of-${name}`
      await eventually(async () => {
        await removeWorkspaces(removal, NOT_CANCELLED)
        const { status } = await fetch(shared, { redirect: 'manual' })
        assert.equal(status, 404)
      })
      const links = { workspaceId: id, limit: 1, descending: false, beyond: undefined }
      assert.deepEqual((await store.read.links.run(links)).items, [])
      assert.equal(await store.read.domains.count(id), 0)
      assert.equal((await store.read.workspaces.listUnremoved()).length, 1)
      const late = newToken(id)
      await store.write((stores) => stores.tokens.insert(late, late.id))
      clock.move(2 * MINUTE)
      await removeWorkspaces(removal, NOT_CANCELLED)
      assert.deepEqual(await store.read.workspaces.listUnremoved(), [])
      assert.notEqual((await store.read.tokens.findById(late.id))?.revoked_at, null)
    })
  })
}
