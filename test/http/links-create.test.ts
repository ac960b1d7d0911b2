import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, LINK_FIELDS, postLink, showLink, TIMESTAMP } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'

const EMPTY_WHEN_UNSET = LINK_FIELDS.slice(6, 20)

onEachEngine('POST /api/v1/links', (stage) => {
  test('returns 201 with every field of the specification, in order', async () => {
    const link = await createLink(stage.api, { key: 'first', url: 'https://example.com/a' })
    assert.deepEqual(Object.keys(link), [...LINK_FIELDS])
    assert.match(link.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const { id } = await stage.service.instance.workspaces.ensure(commandLine, 'acme')
    assert.equal(link.workspace_id, id)
    assert.equal(link.domain, 'localhost')
    assert.equal(link.key, 'first')
    assert.match(link.created_at, TIMESTAMP)
    assert.equal(link.updated_at, link.created_at)
    assert.deepEqual(link.tags, [])
    for (const field of EMPTY_WHEN_UNSET) assert.equal(link[field], null, field)
  })

  test('returns the submitted destination as url and the short link as link', async () => {
    const link = await createLink(stage.api, { key: 'two', url: 'https://example.com/b?c=d#e' })
    assert.equal(link.url, 'https://example.com/b?c=d#e')
    assert.equal(link.link, 'https://localhost/two')
  })

  test('returns null clicks at creation and 0 afterwards', async () => {
    const created = await createLink(stage.api)
    assert.equal(created.clicks, null)
    const shown = await showLink(stage.api, created.id)
    assert.deepEqual(shown, { ...created, clicks: 0 })
  })

  test('takes created_at from the clock, with microseconds', async () => {
    const beforeMs = Date.now()
    const links = [await createLink(stage.api), await createLink(stage.api)]
    links.push(await createLink(stage.api))
    const afterMs = Date.now()
    for (const { created_at } of links) {
      const createdMs = Date.parse(created_at)
      assert.ok(createdMs > beforeMs - 10_000 && createdMs < afterMs + 10_000, created_at)
    }
    assert.ok(links.some(({ created_at }) => !created_at.endsWith('000Z')))
  })

  for (const [name, fields] of [
    ['is missing', {}],
    ['is null', { key: null }],
  ] as const) {
    test(`generates a key of 7 unambiguous characters when the key ${name}`, async () => {
      const keys = await Promise.all(
        Array.from({ length: 10 }, async () => (await createLink(stage.api, fields)).key),
      )
      for (const key of keys) assert.match(key, /^[23456789abcdefghjkmnpqrstuvwxyz]{7}$/)
      assert.equal(new Set(keys).size, keys.length)
    })
  }

  test('requires domain and url, and reports both when both are missing', async () => {
    const { api } = stage
    expectInvalid(await api.post('/links', { url: 'https://example.com/' }), 'domain')
    expectInvalid(await api.post('/links', { domain: 'localhost' }), 'url')
    expectInvalid(await api.post('/links', {}), 'domain', 'url')
    expectInvalid(await postLink(api, { domain: null, url: null }), 'domain', 'url')
  })

  test('reports every wrong field at once', async () => {
    const answer = await postLink(stage.api, {
      key: 'a//b',
      url: 'nowhere',
      ios: 'javascript:alert(1)',
      expires_at: 'tomorrow',
    })
    expectInvalid(answer, 'key', 'url', 'ios', 'expires_at')
  })

  test('returns 422 for an unknown field by name, so that a misspelled field is not ignored', async () => {
    expectInvalid(await postLink(stage.api, { expire_at: '2030-01-01T00:00:00Z' }), 'expire_at')
  })

  test('ignores read-only fields, so that a returned link can be copied', async () => {
    const original = await createLink(stage.api, { key: 'original' })
    const copy = await createLink(stage.api, { ...original, clicks: 99, key: 'copy' })
    assert.notEqual(copy.id, original.id)
    assert.equal(copy.clicks, null)
    assert.equal(copy.link, 'https://localhost/copy')
    assert.ok(copy.created_at > original.created_at)
  })

  test('gives one of several concurrent requests the key, and returns 422 to the others', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => postLink(stage.api, { key: 'wanted' })),
    )
    const [won, ...lost] = answers.toSorted((a, b) => a.status - b.status)
    assert.equal(won?.status, 201)
    for (const answer of lost) expectInvalid(answer, 'key')
  })
})
