import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createLink, LINK_FIELDS, showLink } from '../support/links.ts'
import { onEachEngine, onSqlite } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

onEachEngine('GET /api/v1/links/{id}', (stage) => {
  test('returns every field of the specification, in order', async () => {
    const created = await createLink(stage.api)
    const shown = await showLink(stage.api, created.id)
    assert.deepEqual(Object.keys(shown), [...LINK_FIELDS])
    assert.equal(shown.clicks, 0)
    assert.equal(shown.last_click, null)
  })

  test('accepts an id in upper case', async () => {
    const { id } = await createLink(stage.api)
    const { body } = expectStatus(await stage.api.get(`/links/${id.toUpperCase()}`), 200)
    assert.equal(body.id, id)
  })

  test('accepts a JSON content type without a body', async () => {
    const { id } = await createLink(stage.api)
    const headers = { 'content-type': 'application/json' }
    expectStatus(await stage.api.send('GET', `/links/${id}`, { headers }), 200)
  })

  test('counts clicks, and returns the last one in seconds of Unix time', async () => {
    const { id } = await createLink(stage.api, { key: 'clicked' })
    const now = () => Math.floor(stage.service.instance.clock.nowMicros() / 1e6)
    const before = now()
    for (let count = 0; count < 3; count += 1) await visit(stage.service.port, '/clicked')
    const link = await eventually(async () => {
      const shown = await showLink(stage.api, id)
      assert.equal(shown.clicks, 3)
      return shown
    })
    assert.ok(Number.isInteger(link.last_click))
    assert.ok(link.last_click >= before && link.last_click <= now())
  })
})

onSqlite('a link that the workspace does not have', (stage) => {
  const REQUESTS = [
    ['GET', '', undefined],
    ['PUT', '', { domain: 'localhost', url: 'https://example.com/stolen' }],
    ['PATCH', '', { url: 'https://example.com/stolen' }],
    ['DELETE', '', undefined],
    ['GET', '/qr-code', undefined],
    ['PUT', '/qr-code', {}],
  ] as const

  for (const [method, path, body] of REQUESTS) {
    test(`returns the same 404 to ${method} ${path || 'the link'}, whether foreign, unknown or malformed`, async () => {
      const foreign = await createLink(await stage.service.api('other'))
      const ids = [foreign.id, '00000000-0000-7000-8000-000000000000', 'nonsense', '1']
      for (const id of ids) {
        const answer = await stage.api.send(method, `/links/${id}${path}`, {
          headers: { 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        })
        expectStatus(answer, 404)
        const { message, code } = answer.body
        assert.deepEqual([message, code], ['Link not found.', 'not_found'], id)
      }
      const untouched = await showLink(await stage.service.api('other'), foreign.id)
      assert.deepEqual(untouched, { ...foreign, clicks: 0 })
    })
  }
})
