import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { cases } from '../../test/support/properties.ts'
import { systemRandom } from '../platform/crypto/random.ts'
import { generateSecret, hashSecret, isSecret } from './tokens.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The checksum that a secret scanner computes from the documentation alone. */
function checksumValue(tail: string): number {
  let value = 0
  for (const digit of tail) value = value * 62 + BASE62.indexOf(digit)
  return value
}

describe('an API token’s secret', () => {
  test('is terse_, 30 random characters and their CRC-32 in six more', () => {
    for (let index = 0; index < 200; index += 1) {
      const secret = generateSecret(systemRandom)
      assert.match(secret, /^terse_[0-9A-Za-z]{36}$/)
      assert.equal(checksumValue(secret.slice(36)), crc32(secret.slice(6, 36)))
      assert.ok(isSecret(secret))
    }
  })

  test('has 40 characters for clients of Kutt, whose extension takes no other key', () => {
    const secret = generateSecret(systemRandom, 'compat:kutt')
    assert.equal(secret.length, 40)
    assert.equal(checksumValue(secret.slice(34)), crc32(secret.slice(6, 34)))
    assert.ok(isSecret(secret))
    assert.ok(!isSecret(`${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`))
  })

  test('never repeats', () => {
    const secrets = new Set(Array.from({ length: 1_000 }, () => generateSecret(systemRandom)))
    assert.equal(secrets.size, 1_000)
  })

  test('is distinguished from a string with one character changed', () => {
    const place = fc.integer({ min: 0, max: 41 })
    fc.assert(
      fc.property(place, fc.constantFrom(...BASE62, '-', ' '), (at, character) => {
        const secret = generateSecret(systemRandom)
        fc.pre(secret[at] !== character)
        assert.ok(!isSecret(secret.slice(0, at) + character + secret.slice(at + 1)))
      }),
      cases(500),
    )
  })

  test('is refused when truncated or extended', () => {
    const secret = generateSecret(systemRandom)
    for (const text of [
      '',
      'terse_',
      secret.slice(1),
      secret.slice(0, -1),
      `${secret}\n`,
      `${secret}0`,
      ` ${secret}`,
      secret.toUpperCase(),
    ]) {
      assert.ok(!isSecret(text), JSON.stringify(text))
    }
  })

  test('is stored as its SHA-256 hash', () => {
    assert.equal(
      hashSecret('abc'),
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })
})
