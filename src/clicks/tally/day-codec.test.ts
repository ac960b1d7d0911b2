import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { arbitraryClick } from '../../../test/support/arbitrary-clicks.ts'
import { someClick } from '../../../test/support/clicks.ts'
import { cases } from '../../../test/support/properties.ts'
import { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { CLICK_DIMENSIONS, type Click } from '../click.ts'
import { ClickColumns } from '../click-columns.ts'
import type { Counts } from '../report/day-of-clicks.ts'
import {
  addSums,
  readChunks,
  readSums,
  readTallies,
  readTotal,
  readValueSlots,
  readVisitors,
  writeClick,
  writeSums,
  writeTally,
  writeTotal,
  writeValueSlots,
  writeVisitors,
} from './day-codec.ts'
import { DayTally, OTHER_VALUE, VALUES_MAX } from './day-tally.ts'
import { ValueTotals } from './value-totals.ts'
import { VisitorSketch } from './visitor-sketch.ts'

function tallyOf(clicks: readonly Click[]): DayTally {
  const tally = new DayTally()
  for (const click of clicks) tally.add(click)
  return tally
}

/** Everything that a tally holds. */
function contents(tally: DayTally) {
  return {
    total: tally.total.toTally(true),
    visitors: tally.visitors.count(),
    values: CLICK_DIMENSIONS.map((dimension) =>
      [...tally.values(dimension)]
        .map(([value, slots]) => [value, slots.toTally(true)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  }
}

function written(write: (writer: ByteWriter) => void): Buffer {
  const writer = new ByteWriter()
  write(writer)
  return writer.take()
}

const clicks = fc.array(arbitraryClick([1]), { maxLength: 60 })

describe('chunks of a day', () => {
  test('return what was written, as single clicks or tallies, in any number and order', () => {
    const chunks = fc.array(fc.record({ addedUp: fc.boolean(), clicks }), { maxLength: 6 })
    fc.assert(
      fc.property(chunks, (chunks) => {
        const bytes = written((writer) => {
          for (const { addedUp, clicks } of chunks) {
            if (addedUp) {
              writeTally(writer, tallyOf(clicks))
              continue
            }
            for (const click of clicks) {
              if (click.count === 1) writeClick(writer, ClickColumns.of([click]), 0)
              else writeTally(writer, tallyOf([click]))
            }
          }
        })
        const read = new DayTally()
        readChunks(bytes, read)
        assert.deepEqual(contents(read), contents(tallyOf(chunks.flatMap(({ clicks }) => clicks))))
      }),
      cases(200),
    )
  })

  test('are refused when they are truncated or have an unknown tag', () => {
    const bytes = written((writer) =>
      writeTally(writer, tallyOf([someClick({ at: 1, link_seq: 1 })])),
    )
    for (let length = 1; length < bytes.length; length += 1) {
      assert.throws(() => readChunks(bytes.subarray(0, length), new DayTally()), RangeError)
    }
    for (const tag of [96, 127, 224, 240, 242, 255]) {
      assert.throws(() => readChunks(Buffer.of(tag, ...bytes), new DayTally()), RangeError)
    }
  })
})

describe('parts of a day', () => {
  test('return what was written', () => {
    fc.assert(
      fc.property(clicks, (clicks) => {
        const tally = tallyOf(clicks)
        const expected = contents(tally)
        const total = readTotal(
          written((writer) => writeTotal(writer, tally)),
          true,
        )
        const { slots, visitors, ...sums } = total
        assert.deepEqual({ ...sums, slots: [...slots.slots()] }, expected.total)
        assert.equal(visitors, expected.visitors)
        const sketch = new VisitorSketch()
        readVisitors(
          written((writer) => writeVisitors(writer, tally)),
          sketch,
        )
        assert.equal(sketch.count(), expected.visitors)
        const read = new DayTally()
        for (const [index, dimension] of CLICK_DIMENSIONS.entries()) {
          const values = expected.values[index] ?? []
          const sums = written((writer) => writeSums(writer, tally, dimension))
          const slots = written((writer) => writeValueSlots(writer, tally, dimension))
          const withoutSlots = values.map(([value, sum]) => [value, { ...sum, slots: [] }] as const)
          assert.deepEqual(readSums(sums), new Map(withoutSlots))
          assert.deepEqual(readTallies(slots), new Map(values))
          const wanted = new Set(values.filter((_, nth) => nth % 2 === 0).map(([value]) => value))
          const isWanted = ([value]: readonly [string, unknown]) => wanted.has(value)
          assert.deepEqual(readSums(sums, wanted), new Map(withoutSlots.filter(isWanted)))
          assert.deepEqual(readTallies(slots, wanted), new Map(values.filter(isWanted)))
          const totals = new ValueTotals()
          for (let day = 0; day < 2; day += 1) addSums(sums, totals)
          const twice = new Map<string, Counts>()
          totals.take((value, counts) => twice.set(value, counts))
          const doubled = values.map(([value, { persons, others }]) => {
            return [value, { persons: 2 * persons, others: 2 * others }] as const
          })
          assert.deepEqual(twice, new Map(doubled))
          assert.equal(totals.size, 0)
          readValueSlots(slots, read, dimension)
        }
        assert.deepEqual(contents(read).values, expected.values)
      }),
      cases(100),
    )
  })

  test('are refused when their version is unknown', () => {
    const part = written((writer) => writeTotal(writer, new DayTally()))
    part[0] = 3
    assert.throws(() => readTotal(part, true), RangeError)
  })
})

describe('limitValues', () => {
  test('merges the values above the limit into one, those with the fewest clicks first', () => {
    const many = Array.from({ length: VALUES_MAX + 50 }, (_, index) =>
      someClick({ at: index * 1_000_000, link_seq: 1, referrer: `host-${index}.example` }),
    )
    const frequent = [1, 2].map((at) =>
      someClick({ at, link_seq: 1, referrer: 'host-1049.example' }),
    )
    const tally = tallyOf([...many, ...frequent])
    tally.limitValues()
    tally.limitValues()
    const values = tally.values('referrer')
    assert.equal(values.size, VALUES_MAX + 1)
    assert.equal(values.get(OTHER_VALUE)?.persons, 50)
    assert.equal(values.get('host-1049.example')?.persons, 3)

    tally.merge(tallyOf([someClick({ at: 5, link_seq: 1, referrer: 'new.example' })]))
    tally.limitValues()
    assert.equal(tally.values('referrer').size, VALUES_MAX + 1)
    const sum = [...tally.values('referrer').values()].reduce(
      (sum, { persons }) => sum + persons,
      0,
    )
    assert.equal(sum, many.length + frequent.length + 1)
  })
})
