import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  changeOf,
  linePaths,
  logStep,
  nearestPoint,
  pointLabels,
  spreadLabels,
  valueTicks,
} from './scale.ts'

describe('valueTicks', () => {
  for (const [max, ticks] of [
    [0, [0, 1, 2]],
    [1, [0, 1, 2]],
    [3, [0, 1, 2, 3]],
    [5, [0, 2, 4, 6]],
    [99, [0, 50, 100]],
    [2_459, [0, 1_000, 2_000, 3_000]],
    [4_000_000, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]],
  ] as const) {
    test(`are round up to ${max}`, () => assert.deepEqual(valueTicks(max), ticks))
  }
})

describe('pointLabels', () => {
  test('name the first and the last of any number of points, and at most seven', () => {
    for (let count = 1; count <= 500; count += 1) {
      const labels = pointLabels(count)
      assert.equal(labels[0]?.index, 0)
      assert.equal(labels.at(-1)?.index, count - 1)
      assert.ok(labels.length <= 7, `${count} points have ${labels.length} labels`)
      assert.ok(labels.filter(({ isSpare }) => !isSpare).length <= 4, `${count} points on phones`)
    }
  })
})

describe('positions', () => {
  test('find the nearest point, also beside the plot', () => {
    assert.equal(nearestPoint(0.49, 3), 1)
    assert.equal(nearestPoint(-1, 3), 0)
    assert.equal(nearestPoint(2, 3), 2)
  })

  test('keep labels apart, within the plot', () => {
    assert.deepEqual(spreadLabels([0.5, 0.5, 0.1], 0.25), [0.5, 0.75, 0.1])
    assert.deepEqual(spreadLabels([1, 1], 0.25), [0.75, 1])
  })
})

describe('linePaths', () => {
  test('have a gap where a number is not known', () => {
    const known = linePaths({ values: [5, 5, 5, 5, 5], isUnfinished: false }, 5, 10)
    const missing = linePaths({ values: [5, 5, null, 5, null], isUnfinished: true }, 5, 10)
    assert.equal(known.line.match(/M/g)?.length, 1)
    assert.equal(missing.line, 'M0,130L250,130M750,130Z')
    assert.equal(missing.fill.match(/M/g)?.length, 2)
  })

  test('draw an unfinished point by itself, dotted', () => {
    const paths = linePaths({ values: [0, 10, 5], isUnfinished: true }, 3, 10)
    assert.equal(paths.unfinished, 'M500,0L1000,130')
    assert.match(paths.line, /^M0,260.*500,0$/)
    assert.equal(linePaths({ values: [0, 10], isUnfinished: false }, 2, 10).unfinished, '')
  })

  test('draw nothing for no point', () => {
    assert.deepEqual(linePaths({ values: [], isUnfinished: false }, 0, 1), {
      line: '',
      fill: '',
      unfinished: '',
    })
  })
})

describe('numbers', () => {
  test('fall into steps by logarithm', () => {
    assert.deepEqual(
      [0, 1, 9, 10, 100, 999, 10_000].map((value) => logStep(value, 10_000, 4)),
      [0, 1, 1, 2, 3, 3, 4],
    )
    assert.equal(logStep(1, 1, 4), 4)
  })

  test('change from nothing by no ratio', () => {
    assert.equal(changeOf(3, 2), 0.5)
    assert.equal(changeOf(3, 0), undefined)
  })
})
