import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { missingValues, rowsWithSet } from './groups.ts'

const group = (value: string | null, clicks = 1) => ({ value, clicks })
const TOP = ['DE', 'AT', null, 'CH', 'US'].map((value) => group(value))
const valuesOf = (missing: readonly string[], wanted: readonly string[], rows: number) =>
  rowsWithSet(
    TOP,
    missing.map((value) => group(value)),
    wanted,
    rows,
  ).map(({ value }) => value)

describe('the rows of a list', () => {
  test('are the values with most clicks while none is set', () => {
    assert.deepEqual(valuesOf([], [], 3), ['DE', 'AT', null])
  })

  test('have a value that is set in place of the last of the others', () => {
    assert.deepEqual(missingValues(TOP, ['US', 'DE'], 3), ['US'])
    assert.deepEqual(valuesOf(['US'], ['US', 'DE'], 3), ['DE', 'AT', 'US'])
  })

  test('keep a set value that comes last, and the unknown', () => {
    assert.deepEqual(missingValues(TOP, ['', 'JP'], 3), ['JP'])
    assert.deepEqual(valuesOf(['JP'], ['', 'JP'], 3), ['DE', null, 'JP'])
  })

  test('are as many as are set where these are more', () => {
    const wanted = ['DE', 'JP', 'BR', 'IN']
    assert.deepEqual(valuesOf(['JP', 'BR', 'IN'], wanted, 3), ['DE', 'JP', 'BR', 'IN'])
  })
})
