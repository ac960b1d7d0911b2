import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemRandom } from '../platform/crypto/random.ts'
import { keyTaken, withGeneratedKey } from './key.ts'

describe('withGeneratedKey', () => {
  test('tries another key when one is taken', async () => {
    const tried: string[] = []
    const key = await withGeneratedKey(systemRandom, async (key) => {
      tried.push(key)
      if (tried.length < 3) throw keyTaken()
      return key
    })
    assert.equal(key, tried[2])
    assert.equal(new Set(tried).size, 3)
  })

  test('gives up after 8 taken keys, and at once on any other error', async () => {
    let tries = 0
    const fail = (error: Error) =>
      withGeneratedKey(systemRandom, async () => {
        tries += 1
        throw error
      })
    await assert.rejects(fail(keyTaken()), /8 generated keys in a row were taken/)
    assert.equal(tries, 8)
    await assert.rejects(fail(new Error('other')), /other/)
    assert.equal(tries, 9)
  })
})
