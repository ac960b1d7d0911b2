import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OTHER_VALUE } from './day-tally.ts'
import { ValueSums } from './value-sums.ts'

const DAYS = { from: 0, to: 96 * 10 }

function persons(count: number) {
  return { persons: count, others: 0, slots: [] }
}

describe('ValueSums', () => {
  test('loses no click when there are too many values to keep apart, and keeps the most frequent ones', () => {
    const sums = new ValueSums(DAYS, 'exclude')
    for (let nth = 0; nth < 50_000; nth += 1) {
      sums.add(`rare-${nth}`, 0, persons(1))
      if (nth % 10_000 === 0) sums.add('frequent', 1, persons(3))
    }
    const { top, rest } = sums.rank(1)
    assert.deepEqual(top, [['frequent', { persons: 15, others: 0 }]])
    assert.deepEqual(rest, { values: 50_000, persons: 50_000, others: 0 })
  })

  test('counts the merged values of a day with the rest, however frequent they are', () => {
    const sums = new ValueSums(DAYS, 'exclude')
    sums.add(OTHER_VALUE, 0, persons(9))
    sums.add('a', 0, persons(2))
    sums.add('b', 0, persons(1))
    const { top, rest } = sums.rank(1)
    assert.deepEqual(top, [['a', { persons: 2, others: 0 }]])
    assert.deepEqual(rest, { values: 2, persons: 10, others: 0 })
  })
})
