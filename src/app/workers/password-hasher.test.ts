import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { argon2id } from '../../platform/passwords/argon2id.ts'
import { HASH_QUEUE } from '../../platform/passwords/password-hasher.ts'
import { QueueRefusal } from '../../platform/work/fair-queue.ts'
import { WorkQueues } from '../../platform/work/work-queues.ts'
import { openPasswordHasher } from './password-hasher.ts'

/** Generous, because threads start and hash slowly on a busy machine. */
const DEADLINE_MS = 60_000

describe('openPasswordHasher', () => {
  const { hasher, close } = openPasswordHasher(new WorkQueues(), {
    ...HASH_QUEUE,
    waitingPerOwnerMax: 8,
    deadlineMs: DEADLINE_MS,
  })
  after(close)

  test('returns the hash that the calling thread would compute', async () => {
    const tasks = ['sesame', 'pferd ä', ''].map((text) => ({ text, salt: randomBytes(16) }))
    const hashes = await Promise.all(tasks.map((task) => hasher.hash('acme', task)))
    assert.deepEqual(
      hashes.map((hash) => Buffer.from(hash)),
      tasks.map((task) => Buffer.from(argon2id(task))),
    )
  })

  test('refuses an owner’s tasks above the limit, and serves another owner in turn', async () => {
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
    assert.ok(hashed <= 4, `${hashed} hashes of the flood were made first`)
    await Promise.all(flood)
    assert.ok(ended.includes('owner_full'))
  })
})
