import { randomBytes } from 'node:crypto'

/** Cryptographically strong random bytes, as a parameter, so that a test can hold them. */
export type Random = (sizeBytes: number) => Uint8Array

/** Drawn from the system at once, because each draw costs more than the few bytes that are asked for. */
const POOL_BYTES = 4096
let pool = Buffer.alloc(0)

/** Bytes that are given once and kept nowhere here. */
export const systemRandom: Random = (sizeBytes) => {
  if (sizeBytes > POOL_BYTES) return randomBytes(sizeBytes)
  if (sizeBytes > pool.length) pool = randomBytes(POOL_BYTES)
  const bytes = Buffer.from(pool.subarray(0, sizeBytes))
  pool.fill(0, 0, sizeBytes)
  pool = pool.subarray(sizeBytes)
  return bytes
}

/**
 * A string of `length` characters drawn evenly from `alphabet` (at most 256 characters). Bytes that
 * would favour the alphabet's first characters are drawn again.
 */
export function randomString(random: Random, alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random(length - text.length + 8)) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length)
    }
  }
  return text
}
