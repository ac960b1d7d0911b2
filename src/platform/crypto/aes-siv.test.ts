import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { aessiv } from '@noble/ciphers/aes.js'
import { aesSiv } from './aes-siv.ts'

describe('AES-SIV', () => {
  test('gives the ciphertext of RFC 5297, appendix A.1', () => {
    const key = 'fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff'
    const siv = aesSiv(Buffer.from(key, 'hex'))
    const context = siv.bind(Buffer.from('101112131415161718191a1b1c1d1e1f2021222324252627', 'hex'))
    const sealed = siv.seal(context, Buffer.from('112233445566778899aabbccddee', 'hex'))
    assert.equal(
      sealed.toString('hex'),
      '85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c',
    )
  })

  test('agrees with another implementation for messages of each length, and opens them', () => {
    const [key, associated] = [randomBytes(32), randomBytes(45)]
    const siv = aesSiv(key)
    const context = siv.bind(associated)
    for (let length = 0; length < 70; length += 1) {
      const plain = randomBytes(length)
      const sealed = siv.seal(context, plain)
      const expected = length === 0 ? sealed : aessiv(key, associated).encrypt(plain)
      assert.deepEqual(sealed, Buffer.from(expected))
      assert.deepEqual(siv.open(context, sealed), plain)
    }
  })

  test('opens nothing that was altered, cut, or sealed in another context', () => {
    const siv = aesSiv(randomBytes(32))
    const context = siv.bind(Buffer.from('one'))
    const sealed = siv.seal(context, Buffer.from('twenty bytes of text'))
    for (let index = 0; index < sealed.length; index += 1) {
      const altered = Buffer.from(sealed)
      altered[index] = (altered[index] ?? 0) ^ 0x40
      assert.equal(siv.open(context, altered), undefined)
      assert.equal(siv.open(context, sealed.subarray(0, index)), undefined)
    }
    assert.equal(siv.open(siv.bind(Buffer.from('two')), sealed), undefined)
    assert.equal(aesSiv(randomBytes(32)).open(context, sealed), undefined)
  })
})
