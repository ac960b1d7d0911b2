import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { wilson } from '@terse/contract/rates'
import { chiSquareTail, criticalZ, moreThan, sampleRatio } from './split-statistics.ts'

function near(actual: number, expected: number, digits = 4): void {
  assert.ok(Math.abs(actual - expected) < 0.6 * 10 ** -digits, `${actual} is not ${expected}`)
}

type Share = readonly [part: number, total: number]

/** The interval of the difference of two shares (Statistics in Medicine 17, 1998, 873, no. 10), which Wilson's make. */
function newcombe(first: Share, second: Share) {
  const [p1, p2] = [first[0] / first[1], second[0] / second[1]]
  const [one, two] = [wilson(...first, 1.96), wilson(...second, 1.96)]
  return {
    low: p1 - p2 - Math.hypot(p1 - one.low, two.high - p2),
    high: p1 - p2 + Math.hypot(one.high - p1, p2 - two.low),
  }
}

describe('statistics of splits', () => {
  test('correct the width of intervals for several comparisons', () => {
    for (const [comparisons, z] of [
      [1, 1.96],
      [2, 2.241],
      [3, 2.394],
      [6, 2.638],
    ] as const) {
      near(criticalZ(comparisons), z, 3)
    }
  })

  test('give the intervals of differences that Newcombe published', () => {
    for (const [first, second, low, high] of [
      [[56, 70], [48, 80], 0.0524, 0.3339],
      [[9, 10], [3, 10], 0.1705, 0.809],
      [[5, 56], [0, 29], -0.0381, 0.1926],
    ] as const) {
      const bounds = newcombe(first, second)
      near(bounds.low, low)
      near(bounds.high, high)
    }
  })

  test('give the tails of chi-square', () => {
    for (const [value, degrees, tail] of [
      [3.841, 1, 0.05],
      [10.828, 1, 0.001],
      [5.991, 2, 0.05],
      [16.266, 3, 0.001],
      [30.144, 19, 0.05],
      [0, 3, 1],
    ] as const) {
      near(chiSquareTail(value, degrees), tail)
    }
  })

  test('see a share that disagrees with its weight, and none that agrees', () => {
    const split = (a: number, b: number) => [
      { visitors: a, weight: 50 },
      { visitors: b, weight: 50 },
    ]
    near(sampleRatio(split(500, 500)) ?? 0, 1)
    near(sampleRatio(split(450, 550)) ?? 0, 0.0016)
    assert.ok((sampleRatio(split(4_500, 5_500)) ?? 1) < 0.001)
    assert.equal(sampleRatio([{ visitors: 5, weight: 1 }]), undefined)
    assert.equal(
      sampleRatio([
        { visitors: 5, weight: 1 },
        { visitors: 5, weight: 0 },
      ]),
      undefined,
    )
    assert.equal(sampleRatio(split(0, 0)), 1)
  })

  test('compare visitors for their weights, whatever these are', () => {
    const base = { visitors: 10_000, weight: 50 }
    const equal = moreThan({ visitors: 2_000, weight: 10 }, base, 1.96)
    assert.ok(equal.low < 0 && equal.high > 0)
    const more = moreThan({ visitors: 2_200, weight: 10 }, base, 1.96)
    assert.ok(more.low > 0.04 && more.low < 0.1 && more.high > 0.1 && more.high < 0.16)
    const fewer = moreThan({ visitors: 0, weight: 10 }, base, 1.96)
    assert.ok(fewer.low === -1 && fewer.high < 0)
  })
})
