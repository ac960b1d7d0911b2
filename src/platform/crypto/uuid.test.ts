import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemRandom, uuidTimeMs, uuidV7 } from './random.ts'

describe('uuidTimeMs', () => {
  test('returns the millisecond at which a version 7 UUID was created', () => {
    const nowMicros = 1_795_362_656_477_899
    const uuid = uuidV7({ nowMicros: () => nowMicros }, systemRandom)
    assert.equal(uuidTimeMs(uuid), 1_795_362_656_477)
  })

  test('returns undefined for a UUID of another version', () => {
    assert.equal(uuidTimeMs('9b2f1f0e-6a55-4a1e-8c2a-1b9b7f4f5f6c'), undefined)
  })
})
