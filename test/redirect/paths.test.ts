import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'
import { createLink } from './create.ts'

onEachEngine('the path behind a key', (at) => {
  const visited = (path: string) => visit(at.service.port, path)
  const leadsTo = async (path: string) => (await visited(path)).headers.location

  test('leads to no link by default', async () => {
    await createLink(at.api, { key: 'plain' })
    assert.equal((await visited('/plain/x')).status, 404)
  })

  test('is appended, with the query, from the longest key', async () => {
    await createLink(at.api, { key: 'guide', url: 'https://a.example/v1?x=1', path: 'append' })
    await createLink(at.api, { key: 'guide/api', url: 'https://b.example/', path: 'append' })
    assert.equal(await leadsTo('/guide'), 'https://a.example/v1?x=1')
    assert.equal(
      await leadsTo('/guide/start/a%20b?y=2'),
      'https://a.example/v1/start/a%20b?x=1&y=2',
    )
    assert.equal(await leadsTo('/GUIDE/api/x/'), 'https://b.example/x/')
    assert.equal((await visited('/guide/%2e%2e/secret')).status, 404)
  })

  test('is captured by the place of its segments', async () => {
    const url = 'https://a.example/{2}/{1}?all={path}'
    await createLink(at.api, { key: 'shop', url, path: 'capture', ios: 'https://i.example/{1}' })
    assert.equal(await leadsTo('/shop/de/shoes'), 'https://a.example/shoes/de?all=de/shoes')
    const iPhone = { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)' }
    const answer = await visit(at.service.port, '/shop/de', { headers: iPhone })
    assert.equal(answer.headers.location, 'https://i.example/de')
  })

  test('is captured by the placeholders of the key, in rules too, behind exact keys', async () => {
    const item = await createLink(at.api, { key: 'p/{id}', url: 'https://a.example/item/{id}' })
    assert.equal((await at.api.get(`/links/${item.id}/options`)).body.path, 'capture')
    await createLink(at.api, { key: 'p/new', url: 'https://a.example/new' })
    const rules = [{ when: { qr: true }, then: { url: 'https://a.example/qr/{id}/{query.a}' } }]
    expectStatus(await at.api.put(`/links/${item.id}/rules`, { rules }), 200)
    assert.equal(await leadsTo('/p/12'), 'https://a.example/item/12')
    assert.equal(await leadsTo('/p/12?qr=1&a={id}'), 'https://a.example/qr/12/%7Bid%7D')
    assert.equal(await leadsTo('/p/new'), 'https://a.example/new')
  })

  test('counts for the link, and ends when the link or its option does', async () => {
    const { id } = await createLink(at.api, { key: 'brief', path: 'append' })
    assert.equal((await visited('/brief/x')).status, 302)
    expectStatus(await at.api.patch(`/links/${id}`, { path: 'none' }), 200)
    assert.equal((await visited('/brief/x')).status, 404)
    expectStatus(await at.api.patch(`/links/${id}`, { path: 'append', key: 'other' }), 200)
    assert.equal((await visited('/other/x')).status, 302)
    expectStatus(await at.api.delete(`/links/${id}`), 200)
    assert.equal((await visited('/other/x')).status, 404)
  })

  test('keys with placeholders are checked', async () => {
    const create = (key: string) =>
      at.api.post('/links', { domain: 'localhost', key, url: 'https://a.example/' })
    for (const key of ['{id}', '{id}/x', 'p/{id}/{id}', 'p/{path}', 'p/{Id}', 'p/x{id}', 'p/{}']) {
      expectInvalid(await create(key), 'key')
    }
    const own = { domain: 'patterns.localhost', key: '{id}', url: 'https://a.example/{id}' }
    expectStatus(await at.api.post('/links', own), 201)
    const answer = await visit(at.service.port, '/x', { host: own.domain })
    assert.equal(answer.headers.location, 'https://a.example/x')
  })
})
