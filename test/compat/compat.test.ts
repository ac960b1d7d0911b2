import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMPAT_SERVICES, type CompatService } from '@terse/contract/compat-services'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Answer, apiClient, expectStatus } from '../support/api.ts'
import { compatToken } from '../support/compat.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'

/** How each service is asked for a short link. */
const CREATES: Readonly<
  Record<CompatService, (secret: string, url: string) => { path: string; init: RequestInit }>
> = {
  yourls: (signature, url) => ({
    path: '/yourls-api.php',
    init: { body: new URLSearchParams({ signature, url, action: 'shorturl', format: 'json' }) },
  }),
  kutt: (key, target) => ({ path: '/api/v2/links', init: json({ target }, { 'X-API-Key': key }) }),
  shlink: (key, longUrl) => ({
    path: '/rest/v3/short-urls',
    init: json({ longUrl }, { 'X-Api-Key': key }),
  }),
  bitly: (token, long_url) => ({
    path: '/v4/shorten',
    init: json({ long_url }, { Authorization: `Bearer ${token}` }),
  }),
  polr: (key, url) => ({
    path: '/api/v2/action/shorten',
    init: { body: new URLSearchParams({ key, url, response_type: 'json' }) },
  }),
}

function json(body: object, headers: Readonly<Record<string, string>>): RequestInit {
  return {
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
}

onEachEngine('the APIs of other services', (stage) => {
  const enabled = async (workspace = 'acme') => {
    const api = await stage.service.api(workspace)
    const { data } = expectStatus(await api.get('/compat'), 200).body
    return data
      .filter((each: { enabled: boolean }) => each.enabled)
      .map(({ service }: { service: string }) => service)
  }

  test('are off, and a token for one of them switches it on, in its workspace alone', async () => {
    assert.deepEqual(await enabled(), [])
    const token = { name: 'Phone', scopes: ['compat:kutt'] }
    expectStatus(await stage.api.post('/tokens', token), 201)
    assert.deepEqual(await enabled(), ['kutt'])
    assert.deepEqual(await enabled('globex'), [])
    expectStatus(await stage.api.post('/tokens', token), 201)
    expectStatus(await stage.api.put('/compat/kutt', { enabled: false }), 200)
    assert.deepEqual(await enabled(), [])
    const { data } = (await stage.api.get('/events?type=workspace.updated')).body
    const changes = data.map(({ after }: { after: object }) => after)
    assert.deepEqual(changes, [{ compat_kutt: false }, { compat_kutt: true }])
    expectStatus(await stage.api.put('/compat/kutt', { enabled: true }), 200)
    expectProblem(await stage.api.put('/compat/unknown', { enabled: true }), 'not_found')
  })

  test('have tokens with one scope, which open nothing else', async () => {
    const both = { name: 'Both', scopes: ['compat:kutt', 'links:read'] }
    expectProblem(await stage.api.post('/tokens', both), 'validation_failed', ['scopes'])
    const token = { name: 'Phone', scopes: ['compat:shlink'] }
    const { secret } = expectStatus(await stage.api.post('/tokens', token), 201).body
    const api = apiClient(stage.service.baseUrl, secret)
    expectProblem(await api.get('/links'), 'missing_scope')
  })

  test('are opened by no token that may do less', async () => {
    const admin = await stage.service.token('acme', ['workspace:admin', 'links:read'])
    const token = { name: 'More', scopes: ['compat:kutt'] }
    const answer = await apiClient(stage.service.baseUrl, admin).post('/tokens', token)
    expectProblem(answer, 'validation_failed', ['scopes'])
  })

  test('try the secrets of each workspace, however many another has, and none that has ended', async () => {
    const { store } = stage.service.instance
    const listed = async (limit: number, now: number) =>
      (await store.read.compat.listSecrets(limit, now)).map(({ token_id }) => token_id)
    const create = async (workspace: string, fields: object = {}) => {
      const token = { name: 'Site', scopes: ['compat:yourls'], ...fields }
      const api = await stage.service.api(workspace, [...SCOPES])
      return expectStatus(await api.post('/tokens', token), 201).body.id as string
    }
    const expiresAt = new Date(Date.now() + 3_600_000)
    const expiring = await create('acme', { expires_at: expiresAt.toISOString() })
    const own = await create('globex')
    const others = []
    for (let nth = 0; nth < 3; nth += 1) others.push(await create('acme'))
    const now = Date.now() * 1_000
    assert.deepEqual(new Set(await listed(2, now)), new Set([own, others.at(-1)]))
    assert.ok((await listed(9, now)).includes(expiring))
    assert.ok(!(await listed(9, expiresAt.getTime() * 1_000)).includes(expiring))
    expectStatus(await stage.api.delete(`/tokens/${others.at(-1)}`), 200)
    expectStatus(await stage.api.put('/compat/yourls', { enabled: false }), 200)
    assert.deepEqual(await listed(9, now), [own])
  })

  for (const service of COMPAT_SERVICES) {
    test(`count a link that a client of ${service} makes, log its token, and stop at the quota`, async () => {
      const workspace = `quota-${service}`
      const api = await stage.service.api(workspace)
      const secret = await compatToken(stage.service, `compat:${service}`, workspace)
      const { workspaces } = stage.service.instance
      await workspaces.limit(commandLine((await workspaces.get(workspace)).id), { links: 1 })
      const create = async (url: string) => {
        const { path, init } = CREATES[service](secret, url)
        const response = await fetch(stage.service.baseUrl + path, { method: 'POST', ...init })
        return { status: response.status, text: await response.text() }
      }
      const made = await create('https://example.com/first')
      assert.ok(made.status < 300, made.text)
      const refused = await create('https://example.com/second')
      assert.ok(refused.status >= 400 && refused.status < 500, refused.text)
      assert.match(refused.text, /quota of 1 link/)
      const { data: links } = expectStatus(await api.get('/links'), 200).body
      const { data: events } = expectStatus(await api.get('/events?type=link.created'), 200).body
      const { data: tokens } = expectStatus(await api.get('/tokens'), 200).body
      const { id } = tokens.find(({ name }: { name: string }) => name === `compat:${service}`)
      assert.equal(links.length, 1)
      assert.deepEqual(
        events.map(({ subject_id, actor }: Answer['body']) => [subject_id, actor.kind, actor.id]),
        [[links[0].id, 'token', id]],
      )
    })
  }
})
