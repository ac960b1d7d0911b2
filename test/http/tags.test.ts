import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, listedKeys, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'

async function tagsOf(api: Api, query = ''): Promise<[string, number][]> {
  const { data } = expectStatus(await api.get(`/tags${query}`), 200).body
  return data.map(({ name, links }: { name: string; links: number }) => [name, links])
}

onEachEngine('tags', (stage) => {
  test('are listed with the number of their links, in the order that is asked for', async () => {
    const api = await stage.service.api('listed')
    for (const tags of [['b', 'A'], ['b'], ['c%', 'b'], []]) await createLink(api, { tags })
    await createLink(await stage.service.api('others'), { tags: ['b'] })
    const byName: [string, number][] = [
      ['A', 1],
      ['b', 3],
      ['c%', 1],
    ]
    assert.deepEqual(await tagsOf(api), byName)
    assert.deepEqual(await tagsOf(api, '?sort=-name'), byName.toReversed())
    assert.deepEqual((await tagsOf(api, '?sort=-links'))[0], ['b', 3])
    assert.deepEqual((await tagsOf(api, '?sort=links')).at(-1), ['b', 3])
    assert.deepEqual(await tagsOf(api, '?search=a'), [['A', 1]])
    assert.deepEqual(await tagsOf(api, '?search=%25'), [['c%', 1]])
    assert.deepEqual(await tagsOf(api, '?search=nothing'), [])
    assert.deepEqual(await tagsOf(api, '?per_page=1&page=2'), [['b', 3]])
    const { meta } = expectStatus(await api.get('/tags?per_page=2'), 200).body
    assert.deepEqual([meta.total, meta.last_page], [3, 2])
    expectInvalid(await api.get('/tags?sort=age'), 'sort')
  })

  test('are renamed and merged on every link, each with an event and its place in the list', async () => {
    const api = await stage.service.api('renamed')
    const first = await createLink(api, { tags: ['x', 'old', 'y'] })
    const second = await createLink(api, { tags: ['old', 'new', 'older'] })
    const third = await createLink(api, { tags: ['other'] })
    const sent = { tags: ['old', 'older', 'missing'], name: 'new' }
    assert.deepEqual(expectStatus(await api.post('/tags/rename', sent), 200).body, {
      done: true,
      changed: 2,
    })
    const changed = await showLink(api, first.id)
    assert.deepEqual(changed.tags, ['x', 'new', 'y'])
    assert.ok(changed.updated_at > first.updated_at)
    assert.deepEqual((await showLink(api, second.id)).tags, ['new'])
    assert.deepEqual(await showLink(api, third.id), { ...third, clicks: 0 })
    assert.equal((await listedKeys(api, '?tag=new')).length, 2)
    assert.deepEqual(await listedKeys(api, '?tag=old'), [])
    const admin = await stage.service.api('renamed', ['workspace:admin'])
    const events = expectStatus(await admin.get(`/events?subject=${first.id}&per_page=1`), 200)
    const [{ type, before, after }] = events.body.data
    assert.deepEqual(
      [type, before, after],
      ['link.updated', { tags: ['x', 'old', 'y'] }, { tags: ['x', 'new', 'y'] }],
    )
  })

  test('are deleted from every link, in several transactions', async () => {
    const api = await stage.service.api('deleted')
    const links = Array.from({ length: 120 }, (_, index) => ({
      domain: 'localhost',
      key: `tagged-${index}`,
      url: 'https://example.com/',
      tags: ['gone', 'kept'],
    }))
    expectStatus(await api.post('/links/bulk', { action: 'create', links }), 200)
    const answer = await api.post('/tags/delete', { tags: ['gone'] })
    assert.deepEqual(expectStatus(answer, 200).body, { done: true, changed: 120 })
    assert.deepEqual(await tagsOf(api), [['kept', 120]])
    const { storage_bytes } = expectStatus(await api.get('/usage'), 200).body
    const one = links.reduce((sum, { key, url }) => sum + key.length + url.length, 0)
    assert.equal(storage_bytes.used, one + 120 * '["kept"]'.length)
  })

  test('of another workspace stay as they are', async () => {
    const theirs = await createLink(await stage.service.api('owner'), { tags: ['shared'] })
    const api = await stage.service.api('stranger')
    const answer = await api.post('/tags/delete', { tags: ['shared'] })
    assert.deepEqual(expectStatus(answer, 200).body, { done: true, changed: 0 })
    assert.deepEqual((await showLink(await stage.service.api('owner'), theirs.id)).tags, ['shared'])
  })

  test('stay when they are renamed to themselves', async () => {
    const { id } = await createLink(stage.api, { tags: ['same'] })
    const answer = await stage.api.post('/tags/rename', { tags: ['same'], name: 'same' })
    assert.deepEqual(expectStatus(answer, 200).body, { done: true, changed: 0 })
    assert.deepEqual((await showLink(stage.api, id)).tags, ['same'])
  })

  for (const [path, body, field] of [
    ['/tags/rename', { tags: [], name: 'a' }, 'tags'],
    ['/tags/rename', { tags: ['a'] }, 'name'],
    ['/tags/rename', { tags: ['a'], name: 'x'.repeat(51) }, 'name'],
    ['/tags/delete', { tags: Array(11).fill('a') }, 'tags'],
  ] as const) {
    test(`return 422 on ${field} for ${path} with ${JSON.stringify(body).slice(0, 40)}`, async () => {
      expectInvalid(await stage.api.post(path, body), field)
    })
  }
})
