import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { NOW, newNode } from './samples.ts'

describeStore('the node store', (at) => {
  const ids = async () => (await at.store.read.nodes.list()).map(({ id }) => id)

  test('return the last report of each node', async () => {
    await at.store.write(({ nodes }) => nodes.beat(newNode('a')))
    const later = { ...newNode('a'), beat_at: NOW + 1, backlog_bytes: 7, oldest_click_at: NOW }
    await at.store.write(({ nodes }) => nodes.beat(later))
    same(await at.store.read.nodes.list(), [later])
  })

  test('report each loss once, even to concurrent callers, and report the next one again', async () => {
    const { store: other } = await at.another()
    await at.store.write(({ nodes }) => nodes.beat({ ...newNode('b'), beat_at: NOW - 10 }))
    const take = (before: number) =>
      Promise.all(
        [at.store, other].map((store) => store.write(({ nodes }) => nodes.takeLost(before, NOW))),
      )
    const taken = (await take(NOW)).flat()
    same(taken, [{ ...newNode('b'), beat_at: NOW - 10 }])
    assert.deepEqual((await take(NOW)).flat(), [])
    await at.store.write(({ nodes }) => nodes.beat({ ...newNode('b'), beat_at: NOW - 5 }))
    assert.equal((await take(NOW)).flat().length, 1)
  })

  test('are deleted only when no heartbeat has arrived since', async () => {
    const forget = (id: string, before: number) =>
      at.store.write(({ nodes }) => nodes.forget(id, before))
    await at.store.write(({ nodes }) => nodes.beat(newNode('c')))
    assert.equal(await forget('c', NOW), false)
    assert.ok((await ids()).includes('c'))
    assert.equal(await forget('c', NOW + 1), true)
    assert.equal(await forget('c', NOW + 1), false)
    assert.ok(!(await ids()).includes('c'))
  })
})
