import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RuleInput } from '@terse/contract/rules'
import {
  conditionsOf,
  covers,
  errorsByRule,
  evenedOut,
  movedTo,
  remainingErrors,
  sharesOf,
  shifted,
  withCondition,
} from './rule-draft.ts'

const split = (...weights: readonly number[]) =>
  weights.map((weight, nth) => ({ name: String(nth), url: '', weight }))
const weightsOf = (variants: readonly { readonly weight: number }[]) =>
  variants.map(({ weight }) => weight)

describe('movedTo', () => {
  test('puts one element to another place', () => {
    assert.deepEqual(movedTo(['a', 'b', 'c'], 0, 2), ['b', 'c', 'a'])
    assert.deepEqual(movedTo(['a', 'b', 'c'], 2, 0), ['c', 'a', 'b'])
  })
})

describe('covers', () => {
  test('tells that an earlier rule takes all visitors of a later one', () => {
    const german = { country: ['DE'], device: ['phone' as const] }
    for (const earlier of [{}, { country: ['AT', 'DE'] }, { device: ['phone' as const] }, german]) {
      assert.equal(covers(earlier, german), true)
    }
    const noBot = { not: { bot: true, os: ['ios' as const] } }
    assert.equal(covers({ not: { os: ['ios'] } }, noBot), true)
    assert.equal(covers({ any: [{ qr: true }] }, { any: [{ qr: true }], bot: true }), true)
  })

  test('takes what it cannot tell for no', () => {
    const german = { country: ['DE'] }
    for (const earlier of [
      { country: ['EU'] },
      { country: [] },
      { country: ['DE'], qr: true },
      { not: { os: ['ios' as const] } },
      { any: [german] },
    ]) {
      assert.equal(covers(earlier, german), false)
    }
    assert.equal(covers({ not: { os: ['ios', 'macos'] } }, { not: { os: ['ios'] } }), false)
  })
})

describe('withCondition', () => {
  test('sets and removes conditions that must hold and that must not', () => {
    const one = withCondition({}, { kind: 'country', isNot: false }, ['DE'])
    const both = withCondition(one, { kind: 'os', isNot: true }, ['ios'])
    assert.deepEqual(both, { country: ['DE'], not: { os: ['ios'] } })
    assert.deepEqual(conditionsOf(both), [
      { kind: 'country', isNot: false },
      { kind: 'os', isNot: true },
    ])
    assert.deepEqual(withCondition(both, { kind: 'os', isNot: true }, undefined), one)
  })

  test('keeps the order of conditions, and the groups', () => {
    const when = { country: ['DE'], qr: true, any: [{ bot: true }] }
    const changed = withCondition(when, { kind: 'country', isNot: false }, ['AT'])
    assert.deepEqual(Object.keys(changed), ['country', 'qr', 'any'])
  })
})

describe('weights', () => {
  test('are parts of their sum', () => {
    assert.deepEqual(sharesOf(split(1, 3)), [0.25, 0.75])
    assert.deepEqual(sharesOf(split(0, 0)), [0.5, 0.5])
  })

  test('are evened out to whole percents', () => {
    assert.deepEqual(weightsOf(evenedOut(split(7, 0, 0))), [34, 33, 33])
  })

  test('move between neighbours, down to 0', () => {
    assert.deepEqual(weightsOf(shifted(split(40, 40, 20), 1, 30)), [40, 60, 0])
    assert.deepEqual(weightsOf(shifted(split(40, 40, 20), 0, -50)), [0, 80, 20])
  })
})

describe('errors', () => {
  const rule: RuleInput = {
    when: { country: ['DE', 'XX'] },
    then: { url: 'nowhere' },
  }

  test('go to the rule at their place, by the path below it', () => {
    const drafts = [
      { key: 'a', rule },
      { key: 'b', rule },
    ]
    const fields = { 'rules.1.when.country.1': ['unknown'], rules: ['too many'] }
    assert.deepEqual(errorsByRule(fields, drafts), { b: { 'when.country.1': ['unknown'] } })
  })

  test('end with the value that they are about', () => {
    const errors = { 'when.country.1': ['unknown'], 'then.url': ['no URL'] }
    const mended = { ...rule, when: { country: ['DE'] } }
    assert.deepEqual(remainingErrors(errors, rule, mended), { 'then.url': ['no URL'] })
  })
})
