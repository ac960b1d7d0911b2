import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

onEachEngine('archived links', (stage) => {
  let number = 0

  /** A workspace with five links, of which the second and the fourth are archived. */
  async function withArchived() {
    number += 1
    const api = await stage.service.api(`archive-${number}`)
    const links = []
    for (let index = 1; index <= 5; index += 1) {
      const key = `a${number}-${index}`
      links.push(await createLink(api, { key, archived: index % 2 === 0 }))
    }
    const keysOf = async (query: string) => {
      const { body } = expectStatus(await api.get(`/links?${query}`), 200)
      const keys = body.data.map(({ key }: { key: string }) => key.split('-').at(-1))
      return { keys: keys.join(''), total: body.meta.total }
    }
    return { api, links, keysOf }
  }

  test('are left out of lists, pages and counts', async () => {
    const { keysOf } = await withArchived()
    assert.deepEqual(await keysOf(''), { keys: '531', total: 3 })
    assert.deepEqual(await keysOf('per_page=1&page=2'), { keys: '3', total: 3 })
    assert.deepEqual(await keysOf('sort=created_at&per_page=2&page=2'), { keys: '5', total: 3 })
    assert.deepEqual(await keysOf('sort=key'), { keys: '135', total: 3 })
    assert.deepEqual(await keysOf('search=a'), { keys: '531', total: 3 })
    assert.deepEqual(await keysOf('cursor='), { keys: '531', total: 3 })
  })

  test('are listed on request', async () => {
    const { keysOf } = await withArchived()
    assert.deepEqual(await keysOf('archived=true'), { keys: '42', total: 2 })
    assert.deepEqual(await keysOf('archived=any'), { keys: '54321', total: 5 })
    assert.deepEqual(await keysOf('archived=any&cursor='), { keys: '54321', total: 5 })
    assert.deepEqual(await keysOf('archived=true&cursor='), { keys: '42', total: 2 })
  })

  test('are found by their key, and exported on request', async () => {
    const { api, links, keysOf } = await withArchived()
    const [, second] = links
    assert.equal((await keysOf(`domain=localhost&key=${second?.key}`)).total, 1)
    const rows = async (query: string) =>
      (await api.get(`/links/export?format=ndjson&${query}`)).body.trim().split('\n').length
    assert.equal(await rows(''), 3)
    assert.equal(await rows('archived=any'), 5)
  })

  test('come back when they are unarchived, and leave when they are deleted', async () => {
    const { api, links, keysOf } = await withArchived()
    const [, second, third, fourth] = links.map(({ id }) => id)
    expectStatus(await api.patch(`/links/${second}/options`, { archived: false }), 200)
    assert.deepEqual(await keysOf(''), { keys: '5321', total: 4 })
    expectStatus(await api.patch(`/links/${third}`, { archived: true }), 200)
    assert.deepEqual(await keysOf(''), { keys: '521', total: 3 })
    expectStatus(await api.delete(`/links/${fourth}`), 200)
    assert.deepEqual(await keysOf(''), { keys: '521', total: 3 })
    assert.deepEqual(await keysOf('archived=any'), { keys: '5321', total: 4 })
  })

  test('are archived in bulk', async () => {
    const { api, links, keysOf } = await withArchived()
    const ids = links.map(({ id }) => id)
    const bulk = { action: 'update', ids, changes: { archived: true } }
    expectStatus(await api.post('/links/bulk', bulk), 200)
    assert.deepEqual(await keysOf(''), { keys: '', total: 0 })
    assert.equal((await keysOf('archived=true')).total, 5)
  })

  test('redirect all the same', async () => {
    const { links } = await withArchived()
    assert.equal((await visit(stage.service.port, `/${links[1]?.key}`)).status, 302)
  })
})
