import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DayCounts, decodeDay, encodeDay } from './day-counts.ts'
import { DayTally, OTHER_VALUE } from './day-tally.ts'
import { VisitorSketch } from './visitor-sketch.ts'

function counts(values: DayCounts['values'], clicks: number): DayCounts {
  const visitors = new VisitorSketch()
  visitors.add(7)
  return { slots: [{ slot: 3, persons: clicks, others: 2 }], values, visitors }
}

/** As many values, each with one click. */
function many(length: number) {
  return new Map(
    Array.from({ length }, (_, nth) => [
      `host-${nth}.example`,
      [{ slot: 3, persons: 1, others: 0 }],
    ]),
  )
}

describe('counts of a day', () => {
  test('keep all values, of which a day tally keeps the most frequent', () => {
    const data = encodeDay(counts(new Map([['referrer', many(1_200)]]), 1_200))
    const found = decodeDay(data)
    assert.deepEqual(found.slots, [{ slot: 3, persons: 1_200, others: 2 }])
    assert.deepEqual(found.values.get('referrer'), many(1_200))
    assert.equal(found.visitors.count(), 1)
    const tally = new DayTally()
    tally.addChunks(data)
    const referrers = tally.values('referrer', false)
    assert.equal(referrers.size, 1_001)
    assert.equal(referrers.get(OTHER_VALUE)?.persons, 200)
    assert.equal(tally.total(false).persons, 1_200)
  })

  for (const dimension of ['country', 'variant', 'label', 'city'] as const) {
    test(`are read by a day tally with values of ${dimension}`, () => {
      const slots = [{ slot: 3, persons: 5, others: 1 }]
      const data = encodeDay(counts(new Map([[dimension, new Map([['größer', slots]])]]), 5))
      const tally = new DayTally()
      tally.addChunks(data)
      assert.deepEqual(tally.values(dimension, true).get('größer')?.slots, slots)
      assert.deepEqual(decodeDay(data).values.get(dimension)?.get('größer'), slots)
    })
  }
})
