import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hostChange } from './change.ts'
import { type ChangeFollower, changeFollower } from './change-follower.ts'
import type { ChangeLog, NewChanges } from './change-log.ts'

const INTERVAL_MS = 100
const STALE_MS_MAX = 60_000

/** What the follower reads, and from where it reads it. */
type Reading = Partial<NewChanges> | Error

describe('a follower of the change log', () => {
  let follower: ChangeFollower
  /** From which cursor each reading went on. */
  let read: string[]
  let told: unknown[]
  let next: Reading[]
  let nowMs: number
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    nowMs = 0
    mock.method(performance, 'now', () => nowMs)
    read = []
    told = []
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
          apply: (changes) => told.push(...changes.map(({ subject }) => subject)),
          forgetAll: () => told.push('all'),
          forgetAbsences: () => told.push('absences'),
        },
      ],
      intervalMs: INTERVAL_MS,
      staleMsMax: STALE_MS_MAX,
      onError: (error) => told.push(error),
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

  test('goes on from where it was, and tells what is new', async () => {
    await follower.start()
    next.push({ changes: [hostChange('a.example')] }, { changes: [hostChange('b.example')] })
    await passTime(INTERVAL_MS)
    await passTime(INTERVAL_MS)
    assert.deepEqual(told, ['a.example', 'b.example'])
    assert.deepEqual(read, ['start', '1'])
  })

  test('forgets everything where the log cannot tell what is new', async () => {
    await follower.start()
    next.push({ changes: undefined })
    await passTime(INTERVAL_MS)
    await passTime(INTERVAL_MS)
    assert.deepEqual(told, ['all'])
    assert.deepEqual(read, ['start', '1'])
  })

  test('reads at once when it is woken, and once more when it is woken while it reads', async () => {
    await follower.start()
    await passTime(50)
    follower.wake()
    follower.wake()
    await passTime(0)
    assert.equal(read.length, 1)
    follower.wake()
    await passTime(0)
    assert.equal(read.length, 1, 'not at once again')
    await passTime(20)
    assert.equal(read.length, 2)
  })

  test('trusts no absence while the log cannot be read, and nothing once that took too long', async () => {
    await follower.start()
    const away = new Error('away')
    next.push(away, away, away)
    await passTime(INTERVAL_MS)
    await passTime(INTERVAL_MS)
    assert.deepEqual(told, [away, 'absences', 'absences'], 'the fault is told once')
    await passTime(STALE_MS_MAX)
    assert.equal(told.at(-1), 'all')
    assert.equal(follower.lagMs(), STALE_MS_MAX + 2 * INTERVAL_MS)
    told = []
    next.push({ changes: [hostChange('a.example')] })
    await passTime(INTERVAL_MS)
    assert.deepEqual(told, ['a.example'])
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
    assert.deepEqual(told, ['a.example'])
    await passTime(INTERVAL_MS)
    assert.equal(read[2], '42')
  })

  test('forgets everything after an interruption soon after its start', async () => {
    await follower.start()
    await passTime(INTERVAL_MS)
    next.push({ isInterrupted: true, changes: [hostChange('a.example')] })
    await passTime(INTERVAL_MS)
    assert.deepEqual(told, ['all'])
  })
})
