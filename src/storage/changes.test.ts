import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type ChangeFollower,
  type ChangeLog,
  changeFollower,
  hostChange,
  type NewChanges,
} from './changes.ts'

const INTERVAL_MS = 100
const STALE_MS_MAX = 60_000

/** What one read of the log returns or throws. */
type Reading = Partial<NewChanges> | Error

describe('changeFollower', () => {
  let follower: ChangeFollower
  /** The cursor from which each read continued. */
  let read: string[]
  let delivered: unknown[]
  let next: Reading[]
  let nowMs: number
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    nowMs = 0
    mock.method(performance, 'now', () => nowMs)
    read = []
    delivered = []
    next = []
    let number = 0
    const log: Pick<ChangeLog, 'end' | 'since'> = {
      end: async () => 'start',
      async since(cursor) {
        read.push(cursor)
        const reading = next.shift() ?? {}
        if (reading instanceof Error) throw reading
        number += 1
        return { changes: [], cursor: String(number), isInterrupted: false, ...reading }
      },
    }
    follower = changeFollower({
      log: { ...log, append: mock.fn(), trim: mock.fn() },
      listeners: [
        {
          apply: (changes) => delivered.push(...changes.map(({ subject }) => subject)),
          forgetAll: () => delivered.push('all'),
          forgetAbsences: () => delivered.push('absences'),
        },
      ],
      intervalMs: INTERVAL_MS,
      staleMsMax: STALE_MS_MAX,
      onError: (error) => delivered.push(error),
    })
  })
  afterEach(async () => {
    await follower.stop()
    mock.reset()
  })

  async function passTime(ms: number): Promise<void> {
    nowMs += ms
    mock.timers.tick(ms)
    await nextTurn()
  }

  test('continues from its cursor and delivers new changes', async () => {
    await follower.start()
    next.push({ changes: [hostChange('a.example')] }, { changes: [hostChange('b.example')] })
    await passTime(INTERVAL_MS)
    await passTime(INTERVAL_MS)
    assert.deepEqual(delivered, ['a.example', 'b.example'])
    assert.deepEqual(read, ['start', '1'])
  })

  test('forgets everything when the log cannot return all changes', async () => {
    await follower.start()
    next.push({ changes: undefined })
    await passTime(INTERVAL_MS)
    await passTime(INTERVAL_MS)
    assert.deepEqual(delivered, ['all'])
    assert.deepEqual(read, ['start', '1'])
  })

  test('reads at once when woken, and once more when woken during a read', async () => {
    await follower.start()
    await passTime(50)
    follower.wake()
    follower.wake()
    await passTime(0)
    assert.equal(read.length, 1)
    follower.wake()
    await passTime(0)
    assert.equal(read.length, 1, 'the second read waits for a pause')
    await passTime(20)
    assert.equal(read.length, 2)
  })

  test('forgets absences while the log cannot be read, and everything after the staleness limit', async () => {
    await follower.start()
    const outage = new Error('outage')
    next.push(outage, outage, outage)
    await passTime(INTERVAL_MS)
    await passTime(INTERVAL_MS)
    assert.deepEqual(delivered, [outage, 'absences', 'absences'], 'the error is reported once')
    await passTime(STALE_MS_MAX)
    assert.equal(delivered.at(-1), 'all')
    assert.equal(follower.lagMs(), STALE_MS_MAX + 2 * INTERVAL_MS)
    delivered = []
    next.push({ changes: [hostChange('a.example')] })
    await passTime(INTERVAL_MS)
    assert.deepEqual(delivered, ['a.example'])
    assert.deepEqual(read, ['start', 'start', 'start', 'start'])
    assert.equal(follower.lagMs(), 0)
  })

  test('goes back by the overlap after an interruption', async () => {
    await follower.start()
    for (let second = 0; second < 40; second += 1) await passTime(1_000)
    assert.equal(read.at(-1), '39')
    read = []
    next.push({ isInterrupted: true, changes: [] }, { changes: [hostChange('a.example')] })
    await passTime(INTERVAL_MS)
    assert.equal(read[0], '40')
    const wentBackTo = Number(read[1])
    assert.ok(wentBackTo <= 40 - 2 && wentBackTo >= 40 - 5, `went back to ${wentBackTo}`)
    assert.deepEqual(delivered, ['a.example'])
    await passTime(INTERVAL_MS)
    assert.equal(read[2], '42')
  })

  test('forgets everything after an interruption soon after its start', async () => {
    await follower.start()
    await passTime(INTERVAL_MS)
    next.push({ isInterrupted: true, changes: [hostChange('a.example')] })
    await passTime(INTERVAL_MS)
    assert.deepEqual(delivered, ['all'])
  })
})
