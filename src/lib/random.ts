import { randomBytes } from 'node:crypto'

/** Cryptographically strong random bytes, as a parameter, so that a test can hold them. */
export type Random = (sizeBytes: number) => Uint8Array

export const systemRandom: Random = (sizeBytes) => randomBytes(sizeBytes)

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
