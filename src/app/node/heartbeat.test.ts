import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HeldJournal } from '../../clicks/ingest/click-intake.ts'
import type { ListedNode } from '../../operations/nodes.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { openCountedUntil } from './heartbeat.ts'

const SECOND = 1_000_000
const NOW = Date.UTC(2026, 0, 1) * 1_000

/** @param age of the oldest click that is not counted, in seconds */
function journal(age: number | undefined, id = 'own'): HeldJournal {
  return {
    ...{ id, bytes: age === undefined ? 0 : 1 },
    oldestMicros: age === undefined ? undefined : NOW - age * SECOND,
  }
}

/** @param ages of the last heartbeat, and of the oldest click that was not counted then, in seconds */
function node({ beat, oldest }: { beat: number; oldest?: number }, id = 'other'): ListedNode {
  return {
    ...{ id, name: 'a machine', process: 1, version: '1.0.0', started_at: 0, state: 'up' },
    ...{ beat_at: NOW - beat * SECOND, backlog_bytes: 0, untrusted_proxy: null },
    oldest_click_at: oldest === undefined ? null : NOW - oldest * SECOND,
  }
}

describe('openCountedUntil', () => {
  for (const { name, held = [], nodes = [], age } of [
    { name: 'null when no click waits', age: null },
    { name: 'null while clicks wait for seconds', held: [journal(9)], age: null },
    { name: 'the oldest click of this process', held: [journal(11)], age: 11 },
    { name: 'the oldest of taken over journals', held: [journal(12, 'orphan')], age: 12 },
    { name: 'the oldest click of another node', nodes: [node({ beat: 3, oldest: 14 })], age: 14 },
    { name: 'null for a node whose heartbeat is not due', nodes: [node({ beat: 29 })], age: null },
    { name: 'the last heartbeat of a silent node', nodes: [node({ beat: 31 })], age: 31 },
    {
      name: 'the oldest click of a lost node, however late its heartbeat',
      nodes: [node({ beat: 500, oldest: 600 })],
      age: 600,
    },
    {
      name: 'what this process knows better than its own heartbeat',
      held: [journal(undefined)],
      nodes: [node({ beat: 15, oldest: 40 }, 'own')],
      age: null,
    },
    {
      name: 'the earliest of all',
      held: [journal(20), journal(50, 'orphan')],
      nodes: [node({ beat: 1, oldest: 30 }), node({ beat: 90 }, 'silent')],
      age: 90,
    },
  ] as const) {
    test(`returns ${name}`, async () => {
      const [own = journal(undefined), ...takenOver] = held
      const countedUntil = openCountedUntil({
        intake: { held: () => [own, ...takenOver] },
        nodes: { list: async () => nodes },
        clock: { nowMicros: () => NOW },
      })
      assert.equal(await countedUntil(), age === null ? null : formatInstant(NOW - age * SECOND))
    })
  }

  test('knows this process’s clicks while the database does not answer', async () => {
    const countedUntil = openCountedUntil({
      intake: { held: () => [journal(11)] },
      nodes: { list: () => Promise.reject(new Error('down')) },
      clock: { nowMicros: () => NOW },
    })
    assert.equal(await countedUntil(), formatInstant(NOW - 11 * SECOND))
  })
})
