import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formSetting } from '../../test/support/long-form.ts'
import { divider } from './split.ts'

const VISITS = formSetting('SPLIT_VISITORS')
/** Of five billion runs of a fair division, one shows a deviation of more standard deviations. */
const DEVIATIONS_MAX = 6

/** Numbers of visitors as SipHash makes them: 53 bits without a pattern, the same in each run. */
function* visitors(count: number): Generator<number> {
  let state = 0x9e37_79b9n
  for (let number = 0; number < count; number += 1) {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & (2n ** 64n - 1n)
    yield Number(state >> 11n)
  }
}

const shares = (...weights: number[]) =>
  weights.map((weight, index) => ({ name: `variant ${index}`, weight }))

describe('divider', () => {
  for (const weights of [
    [50, 50],
    [40, 40, 20],
    [1, 99],
    [1, 0, 2, 3],
    [1, 1, 1, 1, 1, 1, 1],
  ]) {
    test(`gives each variant its share of ${weights.join(':')}`, () => {
      const variantOf = divider('rule', shares(...weights))
      const counts = weights.map(() => 0)
      for (const visitor of visitors(VISITS)) {
        const index = variantOf(visitor)
        counts[index] = (counts[index] ?? 0) + 1
      }
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      for (const [index, weight] of weights.entries()) {
        const share = weight / total
        const deviation = Math.sqrt(VISITS * share * (1 - share))
        const missed = Math.abs((counts[index] ?? 0) - VISITS * share)
        assert.ok(missed <= DEVIATIONS_MAX * deviation, `${counts} of ${VISITS}`)
      }
    })
  }

  test('gives a visitor the same variant each time', () => {
    const one = divider('rule', shares(1, 2, 3))
    const other = divider('rule', shares(1, 2, 3))
    for (const visitor of visitors(1_000)) assert.equal(one(visitor), other(visitor))
  })

  test('moves visitors only to a variant whose weight rises, and no more than the rise needs', () => {
    const before = divider('rule', shares(50, 50))
    const after = divider('rule', shares(50, 60))
    let moved = 0
    for (const visitor of visitors(100_000)) {
      if (before(visitor) === after(visitor)) continue
      assert.equal(after(visitor), 1)
      moved += 1
    }
    // The share rises from 1/2 to 6/11.
    assert.ok(moved > 4_000 && moved < 5_100, `${moved} moved`)
  })

  test('moves only the visitors of a variant that is removed', () => {
    const before = divider('rule', shares(1, 1, 1))
    const after = divider('rule', shares(1, 1))
    for (const visitor of visitors(10_000)) {
      if (before(visitor) !== 2) assert.equal(after(visitor), before(visitor))
    }
  })

  test('divides the visitors of one variant again in another split', () => {
    const one = divider('rule 1', shares(1, 1))
    const other = divider('rule 2', shares(1, 1))
    const both = [...visitors(10_000)].filter((visitor) => one(visitor) === 0)
    const again = both.filter((visitor) => other(visitor) === 0).length
    assert.ok(Math.abs(again / both.length - 0.5) < 0.05, `${again} of ${both.length}`)
  })
})
