import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DayCounts, encodeDay } from '../tally/day-counts.ts'
import { DayTally, OTHER_VALUE } from '../tally/day-tally.ts'
import { VisitorSketch } from '../tally/visitor-sketch.ts'
import { countedIn, withoutReturned } from './counted.ts'

function day(referrers: Readonly<Record<string, number>>, visitors: readonly number[]): Buffer {
  const sketch = new VisitorSketch()
  for (const visitor of visitors) sketch.add(visitor)
  const slotsOf = (persons: number) => [{ slot: 9, persons, others: 0 }]
  const clicks = Object.values(referrers).reduce((sum, count) => sum + count, 0)
  const counts: DayCounts = {
    slots: slotsOf(clicks),
    values: new Map([
      [
        'referrer',
        new Map(Object.entries(referrers).map(([name, count]) => [name, slotsOf(count)])),
      ],
    ]),
    visitors: sketch,
  }
  return encodeDay(counts)
}

/** Returns how many clicks have a referrer. */
function referrersIn(data: Uint8Array): Readonly<Record<string, number | undefined>> {
  const found = countedIn(data).values.get('referrer') ?? new Map()
  return Object.fromEntries([...found].map(([name, [slot]]) => [name, slot?.persons]))
}

describe('what a day has besides what came back', () => {
  test('is the day without it, with the visitors that are not in it', () => {
    const returned = day({ 'a.example': 2 }, [1, 2])
    const all = Buffer.concat([day({ 'a.example': 1, 'b.example': 3 }, [2, 3]), returned])
    const left = withoutReturned(all, returned)
    assert.deepEqual(referrersIn(left), { 'a.example': 1, 'b.example': 3 })
    assert.deepEqual(countedIn(left).slots, [{ slot: 9, persons: 4, others: 0 }])
    assert.equal(countedIn(left).visitors, 1)
  })

  test('is the day itself when nothing came back', () => {
    const all = day({ 'a.example': 1 }, [2])
    assert.equal(withoutReturned(all, undefined), all)
  })

  test('is less of the other values, where a value that came back has become one of them', () => {
    const own = Object.fromEntries(Array.from({ length: 1_010 }, (_, nth) => [`${nth}.example`, 5]))
    const returned = day({ 'rare.example': 2 }, [])
    const tally = new DayTally()
    tally.addChunks(Buffer.concat([day(own, []), returned]))
    const left = referrersIn(withoutReturned(tally.take(), returned))
    assert.equal(left['rare.example'], undefined)
    assert.equal(left[OTHER_VALUE], 10 * 5)
    assert.equal(
      Object.values(left).reduce((sum = 0, count = 0) => sum + count, 0),
      1_010 * 5,
    )
  })
})
