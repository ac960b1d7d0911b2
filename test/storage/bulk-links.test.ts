import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BulkLinks } from '../../src/links/bulk-links.ts'
import type { BulkItem } from '../../src/links/bulk-writer.ts'
import { linkServices } from '../support/link-services.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { unique } from './samples.ts'

const ITEMS = 60
const REQUEST = { key: 'once', fingerprint: 'same' }

function creates(): BulkItem[] {
  const prefix = unique('bulk')
  return Array.from({ length: ITEMS }, (_, index) => ({
    kind: 'create',
    input: { domain: 'go.example', key: `${prefix}-${index}`, url: 'https://example.com/' },
  }))
}

/** On a clock that gains `step` milliseconds with each look. */
async function bulkOver(at: StoreUnderTest) {
  const services = await linkServices(at)
  const clock = { now: 0, step: 0 }
  const bulk = new BulkLinks({ ...services, nowMs: () => (clock.now += clock.step) })
  const count = () => services.links.count(services.actor, {})
  return { ...services, bulk, clock, count }
}

describeStore('many links in one request', (at) => {
  test('stop when the time is over, and go on with the same request', async () => {
    const { bulk, clock, actor, count } = await bulkOver(at)
    const items = creates()
    clock.step = 6_000
    const first = await bulk.run(actor, items, REQUEST)
    assert.ok(first.length > 0 && first.length < ITEMS, `${first.length}`)
    assert.equal(await count(), first.length, 'what is pending is untouched')
    clock.step = 0
    const all = await bulk.run(actor, items, REQUEST)
    assert.equal(all.length, ITEMS)
    assert.deepEqual(all.slice(0, first.length), first)
    assert.equal(await count(), ITEMS)
  })

  test('are created once by two equal requests at the same time', async () => {
    const { bulk, actor, count } = await bulkOver(at)
    const items = creates()
    const [one, two] = await Promise.all([
      bulk.run(actor, items, REQUEST),
      bulk.run(actor, items, REQUEST),
    ])
    assert.ok(one.every(({ status }) => status === 'succeeded'))
    assert.deepEqual(two, one)
    assert.equal(await count(), ITEMS)
  })

  test('are created once each by two requests that want the same keys', async () => {
    const { bulk, actor, count } = await bulkOver(at)
    const items = creates()
    const both = await Promise.all([
      bulk.run(actor, items, undefined),
      bulk.run(actor, items, undefined),
    ])
    const made = both.flat().filter(({ status }) => status === 'succeeded')
    assert.equal(made.length, ITEMS)
    assert.ok(both.flat().every(({ error }) => error === null || error.faults?.key !== undefined))
    assert.equal(await count(), ITEMS)
  })
})
