import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { expiryOf } from './tokens.ts'

const NOW = new Date('2026-11-22T10:00:00Z')

describe('expiryOf', () => {
  test('returns null for never, and counts days from now', () => {
    assert.equal(expiryOf('never', '', NOW), null)
    assert.equal(expiryOf('month', '', NOW), '2026-12-22T10:00:00.000Z')
  })

  test('returns the end of a chosen day, by local time', () => {
    const end = expiryOf('custom', '2026-12-31', NOW)
    assert.equal(end, new Date(2027, 0, 1).toISOString())
  })
})
