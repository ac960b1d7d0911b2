import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { jsonRequest } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'

const PATH = '/default-domain'

onEachEngine('/api/v1/default-domain', (stage) => {
  test('names no domain until one is chosen, and the last one chosen from then on', async () => {
    const api = await stage.service.api('choosing')
    const show = async () => expectStatus(await api.get(PATH), 200).body
    assert.deepEqual(await show(), { domain: null })
    for (const domain of ['one.acme.test', 'two.acme.test']) {
      expectStatus(await api.post('/domains', { domain }), 201)
      const chosen = expectStatus(await api.put(PATH, { domain: domain.toUpperCase() }), 200)
      assert.deepEqual([chosen.body, await show()], [{ domain }, { domain }])
    }
    expectStatus(await api.put(PATH, { domain: null }), 200)
    assert.deepEqual(await show(), { domain: null })
    const { body } = expectStatus(await api.get('/events?type=domain.updated'), 200)
    const changes = body.data.map(({ before, after }: Record<string, unknown>) => [before, after])
    const [made, ended] = [
      [{ is_default: false }, { is_default: true }],
      [{ is_default: true }, { is_default: false }],
    ]
    assert.deepEqual(changes, [ended, made, ended, made])
  })

  test('follows a renamed domain, and ends with a deleted one', async () => {
    const api = await stage.service.api('renaming')
    const { id } = expectStatus(await api.post('/domains', { domain: 'old.acme.test' }), 201).body
    expectStatus(await api.put(PATH, { domain: 'old.acme.test' }), 200)
    expectStatus(await api.patch(`/domains/${id}`, { domain: 'new.acme.test' }), 200)
    assert.equal((await api.get(PATH)).body.domain, 'new.acme.test')
    expectStatus(await api.delete(`/domains/${id}`), 200)
    assert.equal((await api.get(PATH)).body.domain, null)
  })

  test('returns 422 for what is no domain of the workspace, and 403 without the scope', async () => {
    const [api, other] = [await stage.service.api('acme'), await stage.service.api('other')]
    expectStatus(await other.post('/domains', { domain: 'theirs.acme.test' }), 201)
    for (const domain of ['theirs.acme.test', 'localhost', 'no host', '', 7, undefined]) {
      expectInvalid(await api.put(PATH, { domain }), 'domain')
    }
    const reader = await stage.service.api('acme', ['domains:read'])
    expectProblem(await reader.put(PATH, { domain: null }), 'missing_scope')
    assert.equal(expectStatus(await reader.get(PATH), 200).body.domain, null)
  })

  test('changes nothing when another request was faster', async () => {
    const api = await stage.service.api('racing')
    for (const domain of ['a.acme.test', 'b.acme.test']) await api.post('/domains', { domain })
    const { headers } = expectStatus(await api.get(PATH), 200)
    const ifMatch = { 'if-match': headers.get('etag') ?? '' }
    const choose = (domain: string) =>
      api.send('PUT', PATH, jsonRequest(JSON.stringify({ domain }), ifMatch))
    expectStatus(await choose('a.acme.test'), 200)
    expectProblem(await choose('b.acme.test'), 'precondition_failed')
    assert.equal((await api.get(PATH)).body.domain, 'a.acme.test')
  })
})
