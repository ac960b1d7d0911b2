import assert from 'node:assert/strict'
import { test } from 'node:test'
import { windowsOf } from './raw-clicks.ts'

const SLOT = 900_000_000

test('a day with few clicks is one window', () => {
  assert.deepEqual([...windowsOf(0, 96 * SLOT, [])], [[0, 96 * SLOT]])
  assert.deepEqual([...windowsOf(0, 96 * SLOT, [{ slot: 7, rows: 20_000 }])], [[0, 96 * SLOT]])
})

test('windows follow each other without a gap, and have at most 20,000 clicks that are spread evenly', () => {
  const counts = [
    { slot: 0, rows: 15_000 },
    { slot: 1, rows: 6_000 },
    { slot: 90, rows: 50_000 },
  ]
  const windows = [...windowsOf(5, 96 * SLOT, counts)]
  assert.deepEqual(windows, [
    [5, 5 + SLOT],
    [5 + SLOT, 5 + 90 * SLOT],
    [5 + 90 * SLOT, 5 + 90 * SLOT + SLOT / 3],
    [5 + 90 * SLOT + SLOT / 3, 5 + 90 * SLOT + (2 * SLOT) / 3],
    [5 + 90 * SLOT + (2 * SLOT) / 3, 96 * SLOT],
  ])
})
