import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/storage/changes.ts'
import { linkServices } from '../support/link-services.ts'
import { describeStore } from '../support/store.ts'
import { NOW, unique } from './samples.ts'

/** The clock at each step after the first, and the instant that the row must have then. */
const STEPS = [
  { clock: NOW + 1, updatedAt: NOW + 1 },
  { clock: NOW + 1, updatedAt: NOW + 2 },
  { clock: NOW - 3_600_000_000, updatedAt: NOW + 3 },
  { clock: NOW + 3, updatedAt: NOW + 4 },
  { clock: NOW + 1_000_001, updatedAt: NOW + 1_000_001 },
]

describeStore('the times of a row', (at) => {
  test('keep their microseconds and only increase when a link is updated, whatever the clock does', async () => {
    const { time, links, actor } = await linkServices(at)
    const input = { domain: 'go.example', key: unique('key'), url: 'https://example.com/' }
    const { id } = await links.create(actor, input)
    for (const { clock, updatedAt } of STEPS) {
      time.now = clock
      await links.update(actor, id, { url: `https://example.com/${updatedAt}` })
      const link = await links.get(actor, id)
      assert.equal(link.created_at, NOW)
      assert.equal(link.updated_at, updatedAt)
    }
  })

  test('keep their microseconds and only increase when a domain is updated, whatever the clock does', async () => {
    const { time, domains, actor } = await linkServices(at)
    const { id } = await domains.create(actor, { domain: `${unique('host')}.example.com` })
    // It was proved at once, which is its first update.
    assert.equal((await domains.get(actor, id)).updated_at, NOW + 1)
    for (const { clock, updatedAt } of STEPS) {
      time.now = clock + 1
      await domains.update(actor, id, { expired_url: `https://example.org/${updatedAt}` })
      const domain = await domains.get(actor, id)
      assert.equal(domain.created_at, NOW)
      assert.equal(domain.updated_at, updatedAt + 1)
    }
  })
})

describeStore('the changes that a deletion appends', (at) => {
  test('contain the current host of a deleted domain, though it was renamed a moment before', async () => {
    const { domains, actor } = await linkServices(at)
    const [before, renamed] = [`${unique('a')}.example.com`, `${unique('b')}.example.com`]
    const { id } = await domains.create(actor, { domain: before })
    const notified: Change[][] = []
    at.store.onChange((changes) => notified.push([...changes]))
    // Both have read the domain before either writes.
    const [updated] = await Promise.allSettled([
      domains.update(actor, id, { domain: renamed }),
      domains.delete(actor, id),
    ])
    const last = notified.at(-1)?.map(({ subject }) => subject)
    const host = updated.status === 'fulfilled' ? renamed : before
    assert.ok(last?.includes(host), `the last transaction notified of ${last}, not of ${host}`)
  })
})
