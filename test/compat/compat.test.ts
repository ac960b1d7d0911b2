import assert from 'node:assert/strict'
import { test } from 'node:test'
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
    expectStatus(await stage.api.put('/compat/kutt', { enabled: false }), 200)
    assert.deepEqual(await enabled(), [])
    const { body } = await stage.api.get('/events?type=workspace.updated')
    assert.deepEqual(body.data[0].after, { compat_kutt: false })
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
})
