import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { arbitraryClick } from '../../../test/support/arbitrary-clicks.ts'
import { someClick } from '../../../test/support/clicks.ts'
import { contentsOf, contentsOfChunks, countClicks } from '../../../test/support/counted-clicks.ts'
import { cases } from '../../../test/support/properties.ts'
import { ByteWriter } from '../../platform/bytes/bytes.ts'
import { CLICK_DIMENSIONS, type Click } from '../click.ts'
import { ClickColumns, wholeRun } from '../click-columns.ts'
import { writeClick } from './day-format.ts'
import { DayTally, OTHER_VALUE, VALUES_MAX } from './day-tally.ts'

/** Used for all tests, as for all days of a service: each must leave nothing behind. */
const tally = new DayTally()

/** Some clicks, written one by one or added up. */
type Chunk = { readonly addedUp: boolean; readonly clicks: readonly Click[] }

function chunksOf(chunks: readonly Chunk[]): Buffer {
  return Buffer.concat(
    chunks.flatMap(({ addedUp, clicks }) =>
      addedUp ? [chunkOf(clicks)] : clicks.map((click) => singleOf(click)),
    ),
  )
}

function chunkOf(clicks: readonly Click[]): Buffer {
  addClicks(clicks)
  return tally.take()
}

function addClicks(clicks: readonly Click[]): void {
  const columns = ClickColumns.of(clicks)
  tally.addClicks(columns, wholeRun(columns.indexes()))
}

function singleOf(click: Click): Buffer {
  if (click.count > 1) return chunkOf([click])
  const writer = new ByteWriter()
  writeClick(writer, ClickColumns.of([click]), 0)
  return writer.take()
}

function fold(chunks: Uint8Array): Buffer {
  tally.clear()
  tally.addChunks(chunks)
  return tally.take()
}

const clicks = fc.array(arbitraryClick([1]), { maxLength: 60 })

describe('DayTally', () => {
  test('adds up single clicks and tallies, in any number and order, day after day', () => {
    const chunk = fc.record({ addedUp: fc.boolean(), clicks })
    const days = fc.array(fc.array(chunk, { maxLength: 6 }), { maxLength: 4 })
    fc.assert(
      fc.property(days, (days) => {
        for (const day of days) {
          const folded = fold(chunksOf(day))
          assert.deepEqual(
            contentsOfChunks(folded),
            countClicks(day.flatMap(({ clicks }) => clicks)),
          )
          assert.deepEqual(fold(folded), folded)
        }
      }),
      cases(150),
    )
  })

  test('adds up clicks by columns, and the parts of a day, with and without quarter hours', () => {
    fc.assert(
      fc.property(clicks, clicks, fc.boolean(), (ofParts, recent, withSlots) => {
        addClicks(ofParts)
        const [total, visitors] = [tally.totalPart(), tally.visitorsPart()]
        const values = CLICK_DIMENSIONS.map((name) => tally.valuesPart(name, withSlots))
        tally.clear()
        addClicks(recent)
        tally.addTotal(total, withSlots)
        tally.addVisitors(visitors)
        for (const [nth, name] of CLICK_DIMENSIONS.entries()) {
          tally.addValues(name, values[nth] ?? Buffer.of(), withSlots)
        }
        const expected = countClicks([...ofParts, ...recent])
        if (withSlots) assert.deepEqual(contentsOf(tally), expected)
        const { slots, ...sums } = expected.total
        assert.deepEqual(tally.total(false), { ...sums, slots: [] })
        for (const [nth, name] of CLICK_DIMENSIONS.entries()) {
          const ofValues = expected.values[nth] ?? []
          const wanted = new Set(ofValues.filter((_, nth) => nth % 2 === 0).map(([value]) => value))
          const found = ofValues
            .filter(([value]) => wanted.has(value))
            .map(([value, sums]) => [value, { ...sums, slots: [] }] as const)
          assert.deepEqual(tally.values(name, false, wanted), new Map(found))
        }
        tally.clear()
      }),
      cases(100),
    )
  })

  test('keeps the values with the most clicks, and adds up the rest as other ones', () => {
    const day = [
      someClick({ at: 1, link_seq: 1, referrer: OTHER_VALUE }),
      ...manyReferrers(VALUES_MAX + 300),
      ...manyReferrers(700),
    ]
    const folded = fold(chunksOf([{ addedUp: false, clicks: day }]))
    const contents = contentsOfChunks(folded)
    assert.deepEqual(contents, countClicks(day))
    assert.equal(contents.values[CLICK_DIMENSIONS.indexOf('referrer')]?.length, VALUES_MAX + 1)
    assert.deepEqual(fold(folded), folded)

    const later = {
      addedUp: false,
      clicks: [someClick({ at: 5, link_seq: 1, referrer: 'new.example' })],
    }
    const after = contentsOfChunks(fold(Buffer.concat([folded, chunksOf([later])])))
    const referrers = after.values[CLICK_DIMENSIONS.indexOf('referrer')] ?? []
    assert.equal(referrers.length, VALUES_MAX + 1)
    const sum = referrers.reduce((sum, [, { persons }]) => sum + persons, 0)
    assert.equal(sum, day.length + 1)
  })

  test('adds up counts that exceed 32 bits', () => {
    const click = { ...someClick({ at: 1, link_seq: 1 }), count: 2 ** 40 }
    const chunks = chunksOf(Array(3).fill({ addedUp: true, clicks: [click] }))
    assert.equal(contentsOfChunks(chunks).total.persons, 3 * 2 ** 40)
  })

  test('refuses damaged chunks and parts, and has nothing of them once it is cleared', () => {
    const chunks = chunksOf([{ addedUp: true, clicks: manyReferrers(5) }])
    for (let length = 1; length < chunks.length; length += 1) {
      assert.throws(() => fold(chunks.subarray(0, length)), RangeError)
    }
    const wrongSlot = Buffer.from(chunks)
    wrongSlot[2] = 96
    assert.throws(() => fold(wrongSlot), RangeError)
    for (const tag of [96, 127, 224, 240, 242, 255]) {
      assert.throws(() => fold(Buffer.of(tag, ...chunks)), RangeError)
    }
    addClicks(manyReferrers(5))
    const values = tally.valuesPart('referrer', true)
    tally.clear()
    for (let length = 0; length < values.length; length += 1) {
      assert.throws(() => tally.addValues('referrer', values.subarray(0, length), true), RangeError)
    }
    assert.deepEqual(contentsOfChunks(fold(chunks)), countClicks(manyReferrers(5)))
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
