import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import { canonicalInstant, formatInstant } from './clock.ts'

describe('canonicalInstant', () => {
  const accepted: [string, string][] = [
    ['2026-12-31T23:59:59Z', '2026-12-31T23:59:59.000000Z'],
    ['2026-12-31T23:59:59.123456Z', '2026-12-31T23:59:59.123456Z'],
    ['2026-12-31T23:59:59.1Z', '2026-12-31T23:59:59.100000Z'],
    ['2026-12-31T23:59:59.123456999Z', '2026-12-31T23:59:59.123456Z'],
    ['2026-12-31T23:59:59+01:00', '2026-12-31T22:59:59.000000Z'],
    ['2026-01-01T00:30:00+05:45', '2025-12-31T18:45:00.000000Z'],
    ['2026-12-31T20:00:00-08:00', '2027-01-01T04:00:00.000000Z'],
    ['2026-12-31T23:59Z', '2026-12-31T23:59:00.000000Z'],
    ['20261231T235959Z', '2026-12-31T23:59:59.000000Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000000Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
  ]
  for (const [text, canonical] of accepted) {
    test(`parses ${text}`, () => assert.equal(canonicalInstant(text), canonical))
  }

  const refused = [
    '',
    'tomorrow',
    '2026-12-31',
    '2026-12-31T23:59:59',
    '2026-12-31 23:59:59 UTC',
    '1798761599',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-12-31T25:00:00Z',
    '+010000-01-01T00:00:00Z',
    '-000001-12-31T23:59:59Z',
    '9999-12-31T23:59:59-01:00',
    ' 2026-12-31T23:59:59Z',
    '2026-12-31T23:59:59Z\n',
  ]
  for (const text of refused) {
    test(`refuses ${JSON.stringify(text)}`, () => assert.equal(canonicalInstant(text), undefined))
  }
})

describe('formatInstant', () => {
  test('writes microseconds', () => {
    assert.equal(formatInstant(1_000_001), '1970-01-01T00:00:01.000001Z')
    assert.equal(formatInstant(-1), '1969-12-31T23:59:59.999999Z')
    assert.equal(formatInstant(0), '1970-01-01T00:00:00.000000Z')
  })

  test('writes what canonicalInstant leaves unchanged, and sorts like time', () => {
    const micros = fc.integer({ min: 0, max: Date.UTC(2255, 0, 1) * 1_000 })
    fc.assert(
      fc.property(micros, micros, (a, b) => {
        const [first, second] = [formatInstant(a), formatInstant(b)]
        assert.equal(canonicalInstant(first), first)
        assert.equal(Math.sign(a - b), first < second ? -1 : first > second ? 1 : 0)
      }),
      cases(500),
    )
  })
})
