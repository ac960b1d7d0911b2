import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Role } from '@terse/contract/roles'
import {
  isPermission,
  permissionsOf,
  permissionsOfRole,
  ROLES,
  SCOPES,
} from '../../src/identity/permissions.ts'
import { sessionChange } from '../../src/storage/changes.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type AccessedOperation, readEveryOperation, UNKNOWN_ID } from '../support/operations.ts'
import { type PersonClient, personClient, setUp, signIn } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

for (const engine of ENGINES) {
  describe(`sessions in workspaces on ${engine.title}`, () => {
    let service: Service
    let owner: PersonClient
    let personId: string
    let acme: string
    let foreign: string
    before(async () => {
      service = await startService(engine)
      await service.token('acme')
      owner = await setUp(service)
      const { body } = await owner.get('/session')
      personId = body.person.id
      acme = body.memberships[0].workspace_id
      await service.token('foreign')
      foreign = (await service.instance.workspaces.get('foreign')).id
      owner.workspaceId = acme
    })
    after(() => service.stop())

    const setRole = (role: Role) =>
      service.instance.store.write(async (stores) => {
        await stores.memberships.setRole(acme, personId, role, 'hand')
        await stores.changes.append(sessionChange(personId), Date.now() * 1_000)
      })
    const newLink = () => ({ domain: 'localhost', url: 'https://example.com/' })

    test('reads and writes in the workspace that the header names, as the person', async () => {
      expectStatus(await owner.post('/links', newLink()), 201)
      expectStatus(await owner.get('/links', { 'terse-workspace': acme.toUpperCase() }), 200)
      const { body } = expectStatus(await owner.get('/events?type=link.created'), 200)
      const { actor } = body.data[0]
      assert.deepEqual(actor, { kind: 'person', id: personId, name: 'Ada Lovelace' })
    })

    test('needs the header, and knows no other workspace', async () => {
      const client = await signIn(service)
      expectProblem(await client.get('/links'), 'bad_request')
      const answers = []
      for (const id of [foreign, randomUUID(), 'no-id', '']) {
        answers.push(
          expectProblem(await client.get('/links', { 'terse-workspace': id }), 'not_found'),
        )
      }
      const text = (id: string) => `Workspace "${id}" not found.`
      assert.equal(answers[0]?.body.message, text(foreign))
    })

    test('ignores cookies of a request with an Authorization header', async () => {
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
      expectProblem(await owner.get('/links', bearer('terse_wrong')), 'unauthorized')
      const token = await service.token('foreign')
      const { body } = expectStatus(await owner.get('/links', bearer(token)), 200)
      assert.deepEqual(body.data, [])
      expectProblem(await owner.get('/session', bearer(token)), 'missing_role')
    })

    const CROSS_ORIGIN: readonly Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-site', origin: 'BASE' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'BASE.evil.example' },
      {},
    ]

    /** Sends exactly these headers of a browser. */
    function bare(method: string, path: string, headers: Record<string, string>, body?: unknown) {
      const given = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          value.replace('BASE', `http://localhost:${service.port}`),
        ]),
      )
      return fetch(`${service.baseUrl}/api/v1${path}`, {
        method,
        headers: {
          cookie: owner.cookie,
          'terse-workspace': acme,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...given,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    }

    test('refuses changes from pages of other origins and siblings, and changes nothing', async () => {
      const count = async () => (await owner.get('/links')).body.meta.total
      const before = await count()
      for (const headers of CROSS_ORIGIN) {
        for (const [method, path, body] of [
          ['POST', '/links', newLink()],
          ['DELETE', '/session', undefined],
          ['PUT', '/me/password', { password: 'a violet umbrella sings' }],
        ] as const) {
          const answer = await bare(method, path, headers, body)
          const shown = `${method} ${path} ${JSON.stringify(headers)}`
          assert.equal(answer.status, 403, shown)
          const { code } = (await answer.json()) as { code: string }
          assert.equal(code, 'cross_origin', shown)
        }
      }
      assert.equal(await count(), before)
      for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: 'BASE' }]) {
        assert.equal((await bare('POST', '/links', headers, newLink())).status, 201)
      }
    })

    test('refuses a sign-in that a page of another origin sends, with or without a session', async () => {
      const credentials = { email: 'ada@example.com', password: 'x' }
      for (const headers of CROSS_ORIGIN.filter((each) => Object.keys(each).length > 0)) {
        if (headers['sec-fetch-site'] === 'none') continue
        const answer = await bare('POST', '/session', { ...headers, cookie: '' }, credentials)
        assert.equal(answer.status, 403, JSON.stringify(headers))
      }
    })

    test('lets no script of another origin send credentials or name a workspace', async () => {
      const answer = await fetch(`${service.baseUrl}/api/v1/links`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'terse-workspace',
        },
      })
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
      const allowed = answer.headers.get('access-control-allow-headers') ?? ''
      assert.doesNotMatch(allowed, /terse-workspace|cookie/i)
    })

    test('applies a changed role to sessions that are running', async (t) => {
      t.after(() => setRole('owner'))
      expectStatus(await owner.post('/links', newLink()), 201)
      await setRole('viewer')
      const answer = expectProblem(await owner.post('/links', newLink()), 'missing_role')
      assert.equal(answer.body.message, 'This needs the role member in the workspace.')
      expectStatus(await owner.get('/links'), 200)
      await service.instance.store.write(async (stores) => {
        await stores.memberships.delete(acme, personId)
        await stores.changes.append(sessionChange(personId), Date.now() * 1_000)
      })
      expectProblem(await owner.get('/links'), 'not_found')
      const membership = { workspace_id: acme, person_id: personId, role: 'owner' } as const
      await service.instance.store.write(async (stores) => {
        await stores.memberships.insert({ ...membership, created_at: 1, source: 'hand' })
        await stores.changes.append(sessionChange(personId), Date.now() * 1_000)
      })
    })

    /** Authorization comes before the body is read, so that no body is needed to see it. */
    const pathOf = ({ template }: AccessedOperation) =>
      template.replace('{id}', template.startsWith('/workspaces') ? acme : UNKNOWN_ID)

    test('allows each role exactly its operations', async (t) => {
      t.after(() => setRole('owner'))
      const operations = await readEveryOperation(service.baseUrl)
      assert.ok(operations.length > 30)
      for (const role of ROLES) {
        await setRole(role)
        for (const operation of operations) {
          const { access, method, name } = operation
          if (!isPermission(access)) continue
          if (operation.id === 'workspaces.delete' && role === 'owner') continue
          const { status, body } = await owner.send(method, pathOf(operation))
          const isAllowed = permissionsOfRole(role).has(access)
          assert.equal(body.code === 'missing_role', !isAllowed, `${role}: ${name} ${status}`)
          assert.notEqual(status, 401, name)
        }
      }
    })

    test('allows each scope of a token exactly its operations, and no operation for people', async () => {
      const operations = await readEveryOperation(service.baseUrl)
      for (const scope of SCOPES) {
        const client = apiClient(service.baseUrl, await service.token('acme', [scope]))
        for (const operation of operations) {
          const { access, method, name } = operation
          if (access === 'open') continue
          const { status, body } = await client.send(method, pathOf(operation))
          const isAllowed = isPermission(access) && permissionsOf([scope]).has(access)
          const isRefused = body.code === 'missing_scope' || body.code === 'missing_role'
          assert.equal(isRefused, !isAllowed, `${scope}: ${name} ${status}`)
          if (isRefused) assert.equal(status, 403, name)
        }
      }
    })

    test('ends the sessions of a person who is disabled', async (t) => {
      const disable = (at: number | null) =>
        service.instance.store.write(async (stores) => {
          await stores.people.update(personId, { disabled_at: at })
          await stores.changes.append(sessionChange(personId), Date.now() * 1_000)
        })
      t.after(() => disable(null))
      await disable(1)
      expectProblem(await owner.get('/session'), 'unauthorized')
      const credentials = { email: 'ada@example.com', password: 'correct horse battery staple' }
      expectProblem(await personClient(service).post('/session', credentials), 'unauthorized')
    })
  })
}
