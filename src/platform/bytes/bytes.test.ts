import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ByteReader, ByteWriter } from './bytes.ts'

describe('a reader of bytes', () => {
  test('skips as many integers of any size as it is asked to', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeNat(), { minLength: 1 }), fc.nat(), (numbers, nth) => {
        const skipped = nth % numbers.length
        const writer = new ByteWriter()
        for (const number of numbers) writer.varint(number)
        const reader = new ByteReader(writer.take())
        reader.skipVarints(skipped)
        assert.equal(reader.varint(), numbers[skipped])
        assert.throws(() => reader.skipVarints(numbers.length - skipped), RangeError)
      }),
    )
  })
})
