import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Kysely } from 'kysely'
import { FairQueue } from '../platform/work/fair-queue.ts'
import { ScanTooLong, scanQueueOptions, sharedScans } from './scans.ts'
import type { Schema } from './schema.ts'

const NO_DATABASE = {} as Kysely<Schema>

describe('sharedScans', () => {
  test('reads in turns, so that one workspace’s scan ends while another workspace’s many scans continue', async () => {
    const scans = sharedScans({ db: NO_DATABASE, queue: new FairQueue(scanQueueOptions(1)) })
    const ended: string[] = []
    async function scan(workspace: string, turns: number): Promise<void> {
      const one = scans.begin(workspace)
      for (let turn = 0; turn < turns; turn += 1) {
        await one.turn(() => new Promise((resolve) => setImmediate(resolve)))
      }
      ended.push(workspace)
    }
    await Promise.all([...Array.from({ length: 4 }, () => scan('a', 10)), scan('b', 10)])
    assert.equal(ended[0], 'b')
  })

  test('limits the time spent reading, not the time spent waiting', async () => {
    let nowMs = 0
    const queue = new FairQueue(scanQueueOptions(1))
    const scans = sharedScans({ db: NO_DATABASE, queue, nowMs: () => nowMs })
    const read = async (ms: number) => {
      nowMs += ms
    }
    const patient = scans.begin('a', { msMax: 10 })
    await scans.begin('b').turn(() => read(1_000))
    await patient.turn(() => read(6))
    await patient.turn(() => read(6))
    await assert.rejects(
      patient.turn(() => read(0)),
      ScanTooLong,
    )
    assert.equal(queue.running, 0)
  })

  test('ends a scan before its next turn once its signal has aborted', async () => {
    const queue = new FairQueue(scanQueueOptions(1))
    const scans = sharedScans({ db: NO_DATABASE, queue })
    const leave = new AbortController()
    const scan = scans.begin('a', { signal: leave.signal })
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = scan.turn(() => promise)
    const second = assert.rejects(
      scan.turn(async () => assert.fail('started')),
      /gone/,
    )
    leave.abort(new Error('gone'))
    await second
    resolve()
    await first
    assert.equal(queue.running, 0)
  })

  test('refuses a scan as busy when it has waited too long in total', async (t) => {
    let clockMs = 0
    t.mock.method(performance, 'now', () => clockMs)
    const queue = new FairQueue(scanQueueOptions(1))
    const scans = sharedScans({ db: NO_DATABASE, queue, nowMs: () => 0 })
    const [search, endless] = [scans.begin('a', { msMax: 10_000 }), scans.begin('a')]
    clockMs += 60_000
    await assert.rejects(
      search.turn(async () => {}),
      { name: 'QueueRefusal', reason: 'deadline' },
    )
    await endless.turn(async () => {})
  })

  test('reports a statement timeout of the engine as ScanTooLong', async () => {
    const timeout = new Error('canceling statement due to statement timeout')
    const queue = new FairQueue(scanQueueOptions(1))
    const scans = sharedScans({ db: NO_DATABASE, queue, isTimeout: (error) => error === timeout })
    const scan = scans.begin('a')
    await assert.rejects(
      scan.turn(() => Promise.reject(timeout)),
      ScanTooLong,
    )
    await assert.rejects(
      scan.turn(() => Promise.reject(new Error('another'))),
      /another/,
    )
  })
})
