import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { QueueRefusal, WorkQueues } from '../work/fair-queue.ts'
import { argon2id } from './argon2id.ts'
import { HASH_QUEUE, openPasswordHasher } from './password-hasher.ts'

/** The deadline is generous, because threads start and hash slowly on a busy machine. */
const BOUNDS = { ...HASH_QUEUE, waitingPerOwnerMax: 8, deadlineMs: 60_000 }

describe('openPasswordHasher', () => {
  test('returns the hash that the calling thread would compute', async (t) => {
    const { hasher, close } = openPasswordHasher(new WorkQueues(), BOUNDS)
    t.after(close)
    const tasks = ['sesame', 'pferd ä', ''].map((text) => ({ text, salt: randomBytes(16) }))
    const hashes = await Promise.all(tasks.map((task) => hasher.hash('acme', task)))
    assert.deepEqual(
      hashes.map((hash) => Buffer.from(hash)),
      tasks.map((task) => Buffer.from(argon2id(task))),
    )
  })

  test('refuses an owner’s tasks above the limit, and serves another owner in turn', async (t) => {
    // With one thread, hashes end in the order in which they begin.
    const { hasher, close } = openPasswordHasher(new WorkQueues(), { ...BOUNDS, concurrency: 1 })
    t.after(close)
    const task = { text: 'sesame', salt: randomBytes(16) }
    const ended: string[] = []
    const flood = Array.from({ length: 40 }, () =>
      hasher.hash('flood', task).then(
        () => ended.push('flood'),
        (error) => {
          assert.ok(error instanceof QueueRefusal)
          ended.push(error.reason)
        },
      ),
    )
    await hasher.hash('other', task)
    const hashed = ended.filter((how) => how === 'flood').length
    assert.ok(hashed <= 2, `${hashed} hashes of the flood were made first`)
    await Promise.all(flood)
    assert.ok(ended.includes('owner_full'))
  })
})
