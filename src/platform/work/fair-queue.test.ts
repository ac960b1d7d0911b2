import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { FairQueue, type FairQueueOptions, QueueRefusal } from './fair-queue.ts'

const OPTIONS: FairQueueOptions = {
  work: 'charts',
  concurrency: 1,
  waitingPerOwnerMax: 3,
  waitingMax: 5,
  deadlineMs: 10_000,
}

/** Work that runs until the test finishes it; records the order in which it was started. */
class Workload {
  readonly started: string[] = []
  readonly #finishers: (() => void)[] = []
  readonly #queue: FairQueue

  constructor(queue: FairQueue) {
    this.#queue = queue
  }

  add(owner: string, name: string): Promise<void> {
    return this.#queue.run(owner, () => {
      this.started.push(name)
      return new Promise<void>((resolve) => this.#finishers.push(resolve))
    })
  }

  /** Finishes the oldest running work and lets its successor start. */
  async finishOne(): Promise<void> {
    this.#finishers.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function refusedFor(reason: QueueRefusal['reason']): (error: unknown) => boolean {
  return (error) => error instanceof QueueRefusal && error.reason === reason
}

describe('FairQueue', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  test('serves owners in turn, however long one owner’s queue is', async () => {
    const load = new Workload(new FairQueue(OPTIONS))
    for (const name of ['a1', 'a2', 'a3', 'a4']) load.add('a', name)
    load.add('b', 'b1')
    for (let finished = 0; finished < 5; finished += 1) await load.finishOne()
    assert.deepEqual(load.started, ['a1', 'a2', 'b1', 'a3', 'a4'])
  })

  test('runs at most `concurrency` in total and `concurrencyPerOwner` for one owner', async () => {
    const queue = new FairQueue({ ...OPTIONS, concurrency: 3, concurrencyPerOwner: 2 })
    const load = new Workload(queue)
    for (const name of ['a1', 'a2', 'a3']) load.add('a', name)
    load.add('b', 'b1')
    load.add('c', 'c1')
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(load.started, ['a1', 'a2', 'b1'])
    assert.equal(queue.running, 3)
    assert.equal(queue.waiting, 2)
    await load.finishOne()
    assert.deepEqual(load.started, ['a1', 'a2', 'b1', 'a3'])
  })

  test('refuses an owner whose queue is full, and still accepts another', async () => {
    const load = new Workload(new FairQueue(OPTIONS))
    for (const name of ['a1', 'a2', 'a3', 'a4']) load.add('a', name)
    await assert.rejects(load.add('a', 'a5'), refusedFor('owner_full'))
    load.add('b', 'b1')
    await load.finishOne()
    await load.finishOne()
    assert.ok(load.started.includes('b1'))
  })

  test('refuses every owner when all queues together are full', async () => {
    const queue = new FairQueue(OPTIONS)
    const load = new Workload(queue)
    for (const owner of ['a', 'b', 'c', 'd', 'e', 'f']) load.add(owner, owner)
    await assert.rejects(load.add('g', 'g'), refusedFor('full'))
    assert.equal(queue.refused, 1)
  })

  test('does not start work whose deadline has passed', async () => {
    const queue = new FairQueue(OPTIONS)
    const load = new Workload(queue)
    load.add('a', 'a1')
    const late = assert.rejects(load.add('a', 'a2'), refusedFor('deadline'))
    mock.timers.tick(OPTIONS.deadlineMs)
    await late
    assert.equal(queue.waiting, 0)
    await load.finishOne()
    assert.deepEqual(load.started, ['a1'])
  })

  test('drops work whose signal aborts while it waits, and starts none whose signal has aborted', async () => {
    const queue = new FairQueue(OPTIONS)
    const release = await queue.acquire('a')
    const leave = new AbortController()
    const gone = queue.acquire('a', leave.signal)
    const stays = queue.acquire('a')
    assert.equal(queue.waiting, 2)
    leave.abort(new Error('gone'))
    await assert.rejects(gone, /gone/)
    assert.equal(queue.waiting, 1)
    await assert.rejects(queue.acquire('b', leave.signal), /gone/)
    release()
    const releaseLast = await stays
    releaseLast()
    assert.equal(queue.running, 0)
    assert.equal(queue.refused, 0)
  })

  test('frees the place of failed work', async () => {
    const queue = new FairQueue(OPTIONS)
    await assert.rejects(
      queue.run('a', () => Promise.reject(new Error('no'))),
      /no/,
    )
    assert.equal(await queue.run('a', async () => 'yes'), 'yes')
    assert.equal(queue.running, 0)
  })

  test('frees a place once, even when it is released twice', async () => {
    const queue = new FairQueue({ ...OPTIONS, concurrency: 2 })
    const release = await queue.acquire('a')
    await queue.acquire('b')
    release()
    release()
    assert.equal(queue.running, 1)
  })
})
