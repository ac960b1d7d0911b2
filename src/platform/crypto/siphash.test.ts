import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sipHash53, sipKeyOf } from './siphash.ts'

/** Bytes 00, 01, 02, …, which the authors’ test vectors use as the key and as the texts. */
const COUNTING = Buffer.from(Array.from({ length: 64 }, (_, index) => index))

/** From `vectors.h` of the reference implementation: the hash of the first `length` bytes. */
const VECTORS: readonly [length: number, hash: bigint][] = [
  [0, 0x726fdb47dd0e0e31n],
  [1, 0x74f839c593dc67fdn],
  [2, 0x0d6c8009d9a94f5an],
  [3, 0x85676696d7fb7e2dn],
  [4, 0xcf2794e0277187b7n],
  [5, 0x18765564cd99a68dn],
  [6, 0xcbc9466e58fee3cen],
  [7, 0xab0200f58b01d137n],
  [8, 0x93f5f5799a932462n],
  [9, 0x9e0082df0ba9e4b0n],
  [15, 0xa129ca6149be45e5n],
]

describe('sipHash53', () => {
  const key = sipKeyOf(COUNTING)

  for (const [length, hash] of VECTORS) {
    test(`matches the reference implementation for ${length} bytes`, () => {
      const text = COUNTING.subarray(0, length).toString('latin1')
      assert.equal(sipHash53(key, text), Number(hash & (2n ** 53n - 1n)))
    })
  }

  test('returns another hash under another key', () => {
    const other = sipKeyOf(COUNTING.subarray(1))
    assert.notEqual(sipHash53(other, 'text'), sipHash53(key, 'text'))
  })
})
