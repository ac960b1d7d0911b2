import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DueOwners } from './leases.ts'

const SECOND = 1_000_000
const NOW = 1_750_000_000_000_000

/** Turns over rows that a test sets: each row’s owner, and when it became due. */
function setUp() {
  const rows: { owner: string; dueAt: number }[] = []
  const spans: [number, number][] = []
  const turns = new DueOwners(async (from, to) => {
    spans.push([from, to])
    return rows.filter(({ dueAt }) => dueAt >= from && dueAt <= to).map(({ owner }) => owner)
  })
  return { rows, spans, turns }
}

describe('DueOwners', () => {
  test('moves served owners to the end, and forgets owners with nothing due', async () => {
    const { rows, turns } = setUp()
    rows.push({ owner: 'a', dueAt: NOW }, { owner: 'b', dueAt: NOW }, { owner: 'c', dueAt: NOW })
    await turns.refresh(NOW)
    assert.deepEqual(turns.next(), ['a', 'b', 'c'])
    turns.settle(['a'], ['b'])
    assert.deepEqual(turns.next(), ['c', 'a'])
    rows.push({ owner: 'd', dueAt: NOW })
    await turns.refresh(NOW)
    assert.deepEqual(turns.next(), ['c', 'a', 'b', 'd'], 'an owner in line keeps its place')
  })

  test('reads only rows due since the last read, with ten seconds of overlap for clock differences', async () => {
    const { spans, turns } = setUp()
    for (const after of [0, 2, 4]) await turns.refresh(NOW + after * SECOND)
    assert.deepEqual(spans, [
      [0, NOW],
      [NOW - 10 * SECOND, NOW + 2 * SECOND],
      [NOW - 8 * SECOND, NOW + 4 * SECOND],
    ])
  })

  test('reads all rows every half minute, and after a clock was set back', async () => {
    const { rows, turns } = setUp()
    await turns.refresh(NOW)
    rows.push({ owner: 'late', dueAt: NOW - 60 * SECOND })
    await turns.refresh(NOW + 29 * SECOND)
    assert.deepEqual(turns.next(), [])
    await turns.refresh(NOW + 30 * SECOND)
    assert.deepEqual(turns.next(), ['late'])
    turns.settle([], ['late'])
    await turns.refresh(NOW - 60 * SECOND)
    assert.deepEqual(turns.next(), ['late'])
  })

  test('serves 64 owners at a time', async () => {
    const { rows, turns } = setUp()
    for (let index = 0; index < 70; index += 1) rows.push({ owner: `o${index}`, dueAt: NOW })
    await turns.refresh(NOW)
    assert.equal(turns.next().length, 64)
    turns.settle(turns.next(), [])
    assert.deepEqual(turns.next().slice(0, 7), ['o64', 'o65', 'o66', 'o67', 'o68', 'o69', 'o0'])
  })
})
