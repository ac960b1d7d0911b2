import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isScannable } from './contrast.ts'

describe('isScannable', () => {
  for (const [color, expected] of [
    ['#000000', true],
    ['#006b4f', true],
    ['#1d4ed8', true],
    // WCAG's own example of 4.5 to 1 on white is #767676.
    ['#767676', true],
    ['#949494', false],
    ['#ffd400', false],
    ['#ffffff', false],
  ] as const) {
    test(`is ${expected} for ${color}`, () => {
      assert.equal(isScannable(color), expected)
    })
  }
})
