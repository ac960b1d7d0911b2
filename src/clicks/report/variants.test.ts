import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Rule } from '@terse/contract/rules'
import { someClick } from '../../../test/support/clicks.ts'
import { compareVariants, VariantVisitors, variantKey } from './variants.ts'

const DAY = 86_400_000_000
const NOW = Date.UTC(2026, 10, 20) * 1_000

function ruleWith(weights: readonly number[], then: Partial<Rule['then']> = {}): Rule {
  const split = weights.map((weight, nth) => ({
    ...{ name: 'ABCD'[nth] ?? '', url: 'https://example.com/', weight },
  }))
  return { id: 'ab', when: {}, then: { split, ...then } }
}

function compare(rule: Rule, visitors: readonly number[]) {
  const of = (_: string, name: string) => visitors['ABCD'.indexOf(name)] ?? 0
  const [split] = compareVariants([rule], { of }, null, NOW)
  assert.ok(split)
  return { ...split, verdicts: split.variants.map(({ verdict }) => verdict) }
}

describe('compareVariants', () => {
  test('finds no difference where shares are those of the weights', () => {
    const { verdict, verdicts, variants } = compare(ruleWith([3, 1]), [7_510, 2_490])
    assert.deepEqual([verdict, verdicts], ['as_weighted', ['base', 'no_difference']])
    assert.deepEqual(
      variants.map(({ share, expectedShare }) => [share, expectedShare]),
      [
        [0.751, 0.75],
        [0.249, 0.25],
      ],
    )
  })

  test('reports shares that chance does not explain, and by how much they differ', () => {
    const { verdict, verdicts, variants } = compare(ruleWith([1, 1, 1]), [10_000, 10_500, 9_000])
    assert.deepEqual([verdict, verdicts], ['weights_disagree', ['base', 'more', 'fewer']])
    const [, more, fewer] = variants
    assert.ok(more?.more && more.more.low > 0.01 && more.more.high < 0.09)
    assert.ok(fewer?.more && fewer.more.low > -0.14 && fewer.more.high < -0.06)
  })

  test('says nothing with too few visitors, and of an ended split', () => {
    const few = compare(ruleWith([1, 1]), [400, 99])
    assert.deepEqual([few.verdict, few.verdicts], ['too_few', ['base', 'too_few']])
    assert.equal(few.variants[1]?.more, null)
    const end = { at: '2026-11-19T00:00:00Z', variant: 'A' }
    const ended = compare(ruleWith([1, 1], { end }), [9_000, 400])
    assert.deepEqual([ended.verdict, ended.probability], ['ended', null])
    const later = { at: '2026-11-21T00:00:00Z', variant: 'A' }
    assert.equal(compare(ruleWith([1, 1], { end: later }), [500, 500]).verdict, 'as_weighted')
  })

  test('compares with the first variant that is not paused', () => {
    const { verdicts, verdict } = compare(ruleWith([0, 1, 1]), [3, 500, 510])
    assert.deepEqual([verdict, verdicts], ['as_weighted', ['paused', 'base', 'no_difference']])
    assert.deepEqual(
      compareVariants([{ ...ruleWith([]), then: { url: 'x' } }], { of: () => 0 }, null, NOW),
      [],
    )
  })
})

describe('the rate of conversions', () => {
  test('has its interval, unless there are too few visitors or conversions', () => {
    const converted = new Map([
      [variantKey('ab', 'A'), 56],
      [variantKey('ab', 'B'), 4],
    ])
    const of = (_: string, name: string) => (name === 'C' ? 99 : 1_000)
    const [split] = compareVariants([ruleWith([1, 1, 1])], { of }, converted, NOW)
    const [first, second, third] = split?.variants ?? []
    assert.deepEqual([first?.conversions, second?.conversions, third?.conversions], [56, 4, 0])
    assert.deepEqual([second?.rate, third?.rate], [null, null])
    const { value = 0, low = 0, high = 0 } = first?.rate ?? {}
    assert.deepEqual([value, low.toFixed(4), high.toFixed(4)], [0.056, '0.0434', '0.0720'])
    const [hidden] = compareVariants([ruleWith([1])], { of }, null, NOW)
    assert.deepEqual([hidden?.variants[0]?.conversions, hidden?.variants[0]?.rate], [null, null])
  })
})

describe('VariantVisitors', () => {
  test('counts people once a day, and neither bots nor other rules', () => {
    const counted = new VariantVisitors()
    const click = (fields: object) => ({
      ...someClick({ at: NOW, link_seq: 1, visitor: 7, rule: 'ab', variant: 'A', ...fields }),
      ...{ link_id: null, key: null, host: null },
    })
    counted.add([click({}), click({}), click({ visitor: 8 }), click({ at: NOW + DAY })])
    counted.add([click({ flags: 1, visitor: 9 }), click({ rule: 'cd' }), click({ variant: '' })])
    assert.deepEqual(
      [counted.of('ab', 'A'), counted.of('cd', 'A'), counted.of('ab', 'B')],
      [3, 1, 0],
    )
    assert.equal(counted.visits, 7)
  })
})
