import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { columnAt, columnScale } from './columns.ts'

describe('columnScale', () => {
  test('begins at zero without anything below it', () => {
    const { ticks, placeOf } = columnScale([
      { up: 350, down: 0 },
      { up: 20, down: 0 },
    ])
    assert.deepEqual(ticks, [0, 100, 200, 300, 400])
    assert.deepEqual([placeOf(400), placeOf(200), placeOf(0)], [0, 0.5, 1])
  })

  test('has steps below zero for refunds, also for nothing but refunds', () => {
    assert.deepEqual(columnScale([{ up: 300, down: -30 }]).ticks, [-100, 0, 100, 200, 300])
    const { ticks, placeOf } = columnScale([{ up: 0, down: -500 }])
    assert.ok((ticks[0] ?? 0) <= -500)
    assert.ok(placeOf(-500) <= 1)
  })

  test('has steps without columns', () => {
    assert.deepEqual(columnScale([]).ticks, [0, 1, 2])
  })
})

test('columnAt finds the column under each part of the width', () => {
  assert.deepEqual(
    [-0.1, 0, 0.24, 0.26, 0.99, 1, 2].map((share) => columnAt(share, 4)),
    [0, 0, 0, 1, 3, 3, 3],
  )
})
