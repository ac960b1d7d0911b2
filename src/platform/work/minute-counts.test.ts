import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { MinuteCounts } from './minute-counts.ts'

const MINUTE_MS = 60_000

describe('MinuteCounts', () => {
  const lines: [string, number][] = []
  const report = (kind: string, count: number) => lines.push([kind, count])

  test('reports each kind once a minute with its count, and nothing when nothing happened', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const counts = new MinuteCounts(report)
      for (let nth = 0; nth < 1_000; nth += 1) counts.note('a')
      counts.note('b')
      mock.timers.tick(MINUTE_MS - 1)
      assert.deepEqual(lines.splice(0), [])
      mock.timers.tick(1)
      assert.deepEqual(lines.splice(0), [
        ['a', 1_000],
        ['b', 1],
      ])
      mock.timers.tick(10 * MINUTE_MS)
      assert.deepEqual(lines.splice(0), [])
      counts.note('a')
      mock.timers.tick(MINUTE_MS)
      assert.deepEqual(lines.splice(0), [['a', 1]])
    } finally {
      mock.timers.reset()
    }
  })

  test('reports the remaining counts at once when flushed', () => {
    const counts = new MinuteCounts(report)
    counts.note('a')
    counts.flush()
    counts.flush()
    assert.deepEqual(lines.splice(0), [['a', 1]])
  })

  test('counts kinds above the limit together as "other"', () => {
    const counts = new MinuteCounts(report)
    for (let nth = 0; nth < 100; nth += 1) counts.note(`kind ${nth}`)
    counts.flush()
    assert.equal(lines.length, 33)
    assert.deepEqual(lines.at(-1), ['other', 68])
    lines.length = 0
  })
})
