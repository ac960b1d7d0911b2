import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEARCH_QUEUE } from '../../src/links/link-query.ts'
import { TAG_QUEUE, Tags } from '../../src/links/tags.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'
import { StaleRow } from '../../src/storage/store.ts'
import { linkServices } from '../support/link-services.ts'
import { describeStore } from '../support/store.ts'
import { addHome, insertLink, unique } from './samples.ts'

const LINKS = 120

describeStore('tags of many links', (at) => {
  test('change until the time is over, and go on with the same request', async () => {
    const services = await linkServices(at)
    const { actor, links } = services
    for (let index = 0; index < LINKS; index += 1) {
      const input = { domain: 'go.example', key: unique('tagged'), url: 'https://example.com/' }
      await links.create(actor, { ...input, tags: ['old'] })
    }
    const clock = { now: 0, step: 3_000 }
    const tags = new Tags({
      ...services,
      searches: new FairQueue(SEARCH_QUEUE),
      changes: new FairQueue(TAG_QUEUE),
      nowMs: () => (clock.now += clock.step),
    })
    const first = await tags.replace(actor, ['old'], 'new')
    assert.ok(!first.done && first.changed > 0 && first.changed < LINKS, JSON.stringify(first))
    clock.step = 0
    const second = await tags.replace(actor, ['old'], 'new')
    assert.deepEqual(second, { done: true, changed: LINKS - first.changed })
    const query = { search: undefined, offset: 0, limit: 9 }
    const listed = await tags.list(actor, { ...query, sort: { field: 'name', descending: false } })
    assert.deepEqual(listed, { items: [{ tag: 'new', links: LINKS }], total: 1 })
  })

  test('are not written over a link that was changed since it was read', async () => {
    const home = await addHome(at.store)
    const before = await at.store.write((stores) => insertLink(stores, home, { tags: ['a'] }))
    const newer = { ...before, url: 'https://example.com/new', updated_at: before.updated_at + 1 }
    await at.store.write(async (stores) => {
      await stores.links.update(newer, before)
      const after = { ...before, tags: [], updated_at: before.updated_at + 2 }
      await assert.rejects(stores.tags.retag([{ before, after }]), StaleRow)
    })
  })
})
