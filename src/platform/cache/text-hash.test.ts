import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textHash } from './sieve-cache.ts'

const BITS = 12

/** Returns 4,096 texts that differ from each other by these changes of four characters, in any of twelve places. */
function chosenTexts(changes: readonly number[]): readonly string[] {
  return Array.from({ length: 2 ** BITS }, (_, choice) =>
    Array.from({ length: BITS }, (_, place) =>
      String.fromCharCode(
        ...changes.map((change) => 0x3041 ^ ((choice >> place) & 1 ? change : 0)),
      ),
    ).join(''),
  )
}

describe('textHash', () => {
  // The first cancel each other out, whatever the seed is, in a hash that takes two characters at a time.
  for (const changes of [
    [0, 0x8000, 0, 0x8001],
    [0x8000, 0x8000, 0x8000, 0x8000],
    [0x8000, 0x8001, 0, 0],
  ]) {
    test(`differs for texts chosen to be equal, changed by ${changes.join()}`, () => {
      const hashes = new Set(chosenTexts(changes).map(textHash))
      // Among so many random numbers of 32 bits, two are equal in one of 500 runs, and ten in none.
      assert.ok(hashes.size > 2 ** BITS - 10, `${hashes.size}`)
    })
  }

  test('is equal for equal texts, and never 0', () => {
    assert.equal(textHash(Buffer.from('é☕').toString()), textHash('é☕'))
    assert.notEqual(textHash(''), 0)
  })
})
