import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { createLink, listedKeys } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

onEachEngine('DELETE /api/v1/links/{id}', (stage) => {
  test('returns 200 with the message of the specification alone', async () => {
    const { id } = await createLink(stage.api)
    const answer = expectStatus(await stage.api.delete(`/links/${id}`), 200)
    assert.deepEqual(answer.body, { message: 'Link deleted' })
  })

  test('accepts a JSON content type without a body', async () => {
    const { id } = await createLink(stage.api)
    const headers = { 'content-type': 'application/json' }
    expectStatus(await stage.api.send('DELETE', `/links/${id}`, { headers }), 200)
  })

  test('deletes the link: it is not shown, listed or redirected, and a second delete returns 404', async () => {
    const link = await createLink(stage.api, { key: 'gone', tags: ['gone-tag'] })
    assert.equal((await visit(stage.service.port, '/gone')).status, 302)
    expectStatus(await stage.api.delete(`/links/${link.id}`), 200)

    expectStatus(await stage.api.get(`/links/${link.id}`), 404)
    expectStatus(await stage.api.delete(`/links/${link.id}`), 404)
    assert.deepEqual(await listedKeys(stage.api, '?search=gone'), [])
    assert.deepEqual(await listedKeys(stage.api, '?tag=gone-tag'), [])
    assert.equal((await visit(stage.service.port, '/gone')).status, 404)
  })

  test('frees the key', async () => {
    const first = await createLink(stage.api, { key: 'again' })
    expectStatus(await stage.api.delete(`/links/${first.id}`), 200)
    const second = await createLink(stage.api, { key: 'again' })
    assert.notEqual(second.id, first.id)
  })

  test('reduces the total by one, and keeps the other links', async () => {
    const api = await stage.service.api('counting')
    const links = [
      await createLink(api, { key: 'kept' }),
      await createLink(api, { key: 'dropped' }),
    ]
    expectStatus(await api.delete(`/links/${links[1].id}`), 200)
    const { body } = expectStatus(await api.get('/links'), 200)
    assert.equal(body.meta.total, 1)
    assert.deepEqual(await listedKeys(api, ''), ['kept'])
  })
})
