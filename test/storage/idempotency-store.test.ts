import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { UniqueViolation } from '../../src/storage/store.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { NOW, unique } from './samples.ts'

describeStore('the idempotency store', (at) => {
  const newRecord = (overrides = {}) => ({
    workspace_id: randomUUID(),
    idempotency_key: unique('key'),
    fingerprint: 'fingerprint',
    result: '{"a":1}',
    created_at: NOW,
    ...overrides,
  })
  const find = (record: { workspace_id: string; idempotency_key: string }) =>
    at.store.read.idempotency.find(record.workspace_id, record.idempotency_key)

  test('stores a request’s record under its workspace and key', async () => {
    const record = newRecord()
    await at.store.write((stores) => stores.idempotency.insert(record))
    same(await find(record), record)
    assert.equal(await find({ ...record, workspace_id: randomUUID() }), undefined)
    assert.equal(await find({ ...record, idempotency_key: 'other' }), undefined)
  })

  test('keeps the first record when a second request inserts the same key', async () => {
    const record = newRecord()
    await at.store.write((stores) => stores.idempotency.insert(record))
    let runs = 0
    const inserting = at.store.write(async (stores) => {
      runs += 1
      if (runs === 1) await stores.idempotency.insert({ ...record, result: '{"a":2}' })
    })
    // PostgreSQL reports the violation with the commit, and the transaction runs again. SQLite has one
    // writer at a time, so a request finds the record of the one before it.
    await inserting.catch((error) => assert.ok(error instanceof UniqueViolation))
    same(await find(record), record)
  })

  test('deletes records older than the given instant, and nothing else', async () => {
    const [old, young] = [newRecord({ created_at: NOW - 1 }), newRecord()]
    for (const record of [old, young]) {
      await at.store.write((stores) => stores.idempotency.insert(record))
    }
    await at.store.write((stores) => stores.idempotency.trim(NOW))
    assert.equal(await find(old), undefined)
    same(await find(young), young)
  })

  test('deletes in bounded steps, and reports when nothing is left to delete', async () => {
    const old = Array.from({ length: 2_500 }, () => newRecord({ created_at: NOW - 1 }))
    await at.store.write(async (stores) => {
      for (const record of old) await stores.idempotency.insert(record)
    })
    const step = () => at.store.write((stores) => stores.idempotency.trim(NOW))
    same([await step(), await step(), await step(), await step()], [true, true, false, false])
    for (const record of old) assert.equal(await find(record), undefined)
  })
})
