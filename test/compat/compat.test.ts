import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES } from '../../src/identity/permissions.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'

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
})
