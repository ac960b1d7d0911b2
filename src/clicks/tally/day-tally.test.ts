import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DayTally, OTHER_VALUE, VALUES_MAX } from './day-tally.ts'

describe('DayTally', () => {
  test('keeps the sums of values above the limit, also of those without quarter hours', () => {
    const tally = new DayTally()
    for (let number = 0; number <= VALUES_MAX; number += 1) {
      const value = tally.valueOf('referrer', `${number}.example`)
      value.add(1, 1, 0)
      // As of a stored sum (click-reports.ts).
      value.persons += 1
      value.others += 3
    }
    tally.limitValues()
    const values = new Map(tally.values('referrer'))
    assert.equal(values.size, VALUES_MAX + 1)
    assert.deepEqual(values.get(OTHER_VALUE)?.toTally(true), {
      persons: 2,
      others: 3,
      slots: [{ slot: 1, persons: 1, others: 0 }],
    })
  })
})
