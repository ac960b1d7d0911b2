import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from './histogram.ts'

test('a histogram counts each value in every bucket whose bound is at least the value', () => {
  const histogram = new Histogram([1, 2, 5])
  assert.deepEqual(histogram.cumulated, [0, 0, 0, 0])
  for (const value of [0, 1, 1.5, 2, 2.1, 5, 6, 1_000]) histogram.observe(value)
  assert.deepEqual(histogram.cumulated, [2, 4, 6, 8])
  assert.equal(histogram.sum, 1_017.6)
})
