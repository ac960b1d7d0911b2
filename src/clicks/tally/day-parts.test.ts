import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { arbitraryClick } from '../../../test/support/arbitrary-clicks.ts'
import { countClicks } from '../../../test/support/counted-clicks.ts'
import { cases } from '../../../test/support/properties.ts'
import { CLICK_DIMENSIONS, VISITOR_DIMENSIONS } from '../click.ts'
import { ClickColumns, wholeRun } from '../click-columns.ts'
import type { Counts } from '../report/day-of-clicks.ts'
import { addSums, readSums, readTallies, readTotal } from './day-format.ts'
import { DayTally } from './day-tally.ts'
import { ValueTotals } from './values.ts'

const clicks = fc.array(arbitraryClick([1]), { maxLength: 60 })

describe('parts of a day', () => {
  test('return what was written', () => {
    fc.assert(
      fc.property(clicks, (clicks) => {
        const tally = new DayTally()
        const columns = ClickColumns.of(clicks)
        tally.addClicks(columns, wholeRun(columns.indexes()))
        const { total, visitors, values } = countClicks(clicks)
        assert.deepEqual(readTotal(tally.totalPart(), true), { ...total, visitors })
        assert.deepEqual(readTotal(tally.totalPart(), false), { ...total, visitors, slots: [] })
        for (const [index, dimension] of CLICK_DIMENSIONS.entries()) {
          // The value '' of rules is not stored.
          const isStored = ([value]: readonly [string, unknown]) =>
            index < VISITOR_DIMENSIONS.length || value !== ''
          const ofValues = (values[index] ?? []).filter(isStored)
          const sums = tally.valuesPart(dimension, false)
          const slots = tally.valuesPart(dimension, true)
          const withoutSlots = ofValues.map(
            ([value, sum]) => [value, { ...sum, slots: [] }] as const,
          )
          assert.deepEqual(readSums(sums), new Map(withoutSlots))
          assert.deepEqual(readTallies(slots), new Map(ofValues))
          const wanted = new Set(ofValues.filter((_, nth) => nth % 2 === 0).map(([value]) => value))
          const isWanted = ([value]: readonly [string, unknown]) => wanted.has(value)
          for (const some of [wanted, new Set([...wanted, 'a value of another day'])]) {
            assert.deepEqual(readSums(sums, some), new Map(withoutSlots.filter(isWanted)))
            assert.deepEqual(readTallies(slots, some), new Map(ofValues.filter(isWanted)))
          }
          const totals = new ValueTotals()
          for (let day = 0; day < 2; day += 1) addSums(sums, totals)
          const twice = new Map<string, Counts>()
          totals.take((value, counts) => twice.set(value, counts))
          const doubled = ofValues.map(([value, { persons, others }]) => {
            return [value, { persons: 2 * persons, others: 2 * others }] as const
          })
          assert.deepEqual(twice, new Map(doubled))
          assert.equal(totals.size, 0)
        }
      }),
      cases(100),
    )
  })

  test('are refused when their version is unknown', () => {
    const part = new DayTally().totalPart()
    part[0] = 3
    assert.throws(() => readTotal(part, true), RangeError)
  })
})
