import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { arbitraryClick } from '../../../test/support/arbitrary-clicks.ts'
import { someClick } from '../../../test/support/clicks.ts'
import { cases } from '../../../test/support/properties.ts'
import { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { CLICK_DIMENSIONS, type Click } from '../click.ts'
import { ClickColumns } from '../click-columns.ts'
import { readChunks, writeClick, writeTally } from './day-codec.ts'
import { DaySums } from './day-sums.ts'
import { DayTally, OTHER_VALUE, VALUES_MAX } from './day-tally.ts'

/** Some clicks, written one by one or added up. */
type Chunk = { readonly addedUp: boolean; readonly clicks: readonly Click[] }

function chunksOf(chunks: readonly Chunk[]): Buffer {
  const writer = new ByteWriter()
  for (const { addedUp, clicks } of chunks) {
    if (addedUp) writeTally(writer, tallyOf(clicks))
    else {
      const columns = ClickColumns.of(clicks.map((click) => ({ ...click, count: 1 })))
      for (const index of clicks.keys()) writeClick(writer, columns, index)
    }
  }
  return writer.take()
}

function tallyOf(clicks: readonly Click[]): DayTally {
  const tally = new DayTally()
  for (const click of clicks) tally.add(click)
  return tally
}

/** Everything that a day's chunks hold, added up with objects. */
function contentsOf(chunks: Uint8Array) {
  const tally = new DayTally()
  readChunks(chunks, tally)
  tally.limitValues()
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

const clicks = fc.array(arbitraryClick([1]), { maxLength: 60 })
const sums = new DaySums()

function fold(chunks: Uint8Array): Buffer {
  sums.addChunks(chunks)
  return sums.take()
}

describe('DaySums', () => {
  test('returns the tally of single clicks and tallies, day after day', () => {
    const chunk = fc.record({ addedUp: fc.boolean(), clicks })
    const days = fc.array(fc.array(chunk, { maxLength: 6 }), { maxLength: 4 })
    fc.assert(
      fc.property(days, (days) => {
        for (const day of days) {
          const chunks = chunksOf(day)
          assert.deepEqual(contentsOf(fold(chunks)), contentsOf(chunks))
        }
      }),
      cases(200),
    )
  })

  test('returns the tally of clicks by columns', () => {
    fc.assert(
      fc.property(clicks, (clicks) => {
        const columns = ClickColumns.of(clicks)
        for (const index of clicks.keys()) sums.addClick(columns, index)
        const expected = chunksOf([{ addedUp: true, clicks }])
        assert.deepEqual(contentsOf(sums.take()), contentsOf(expected))
      }),
      cases(200),
    )
  })

  test('returns the same tally for a tally', () => {
    const folded = fold(chunksOf([{ addedUp: false, clicks: manyReferrers(50) }]))
    assert.deepEqual(fold(folded), folded)
  })

  test('keeps the values with the most clicks, and adds up the rest as other ones', () => {
    const chunks = chunksOf([
      { addedUp: false, clicks: [someClick({ at: 1, link_seq: 1, referrer: OTHER_VALUE })] },
      { addedUp: true, clicks: manyReferrers(VALUES_MAX + 300) },
      { addedUp: false, clicks: manyReferrers(700) },
    ])
    const { values } = contentsOf(fold(chunks))
    assert.deepEqual(values, contentsOf(chunks).values)
    assert.equal(values[CLICK_DIMENSIONS.indexOf('referrer')]?.length, VALUES_MAX + 1)
  })

  test('adds up counts that exceed 32 bits', () => {
    const click = { ...someClick({ at: 1, link_seq: 1 }), count: 2 ** 40 }
    const { total } = contentsOf(fold(chunksOf(Array(3).fill({ addedUp: true, clicks: [click] }))))
    assert.equal(total.persons, 3 * 2 ** 40)
  })

  test('refuses damaged chunks, and takes nothing of them into the next day', () => {
    const chunks = chunksOf([{ addedUp: true, clicks: manyReferrers(5) }])
    for (let length = 1; length < chunks.length; length += 1) {
      assert.throws(() => fold(chunks.subarray(0, length)), RangeError)
    }
    const wrongSlot = Buffer.from(chunks)
    wrongSlot[2] = 96
    assert.throws(() => fold(wrongSlot), RangeError)
    assert.deepEqual(contentsOf(fold(chunks)), contentsOf(chunks))
  })
})

/** A click with each of so many referrers, and more of those with a small number. */
function manyReferrers(count: number): Click[] {
  return Array.from({ length: count }, (_, n) => n).flatMap((n) =>
    Array.from({ length: n % 7 === 0 ? 3 : 1 }, (_, times) =>
      someClick({ at: (n % 96) * 900_000_000 + times, link_seq: 1, referrer: `host-${n}.example` }),
    ),
  )
}
