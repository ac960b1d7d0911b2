/** A 128-bit key, as four little-endian 32-bit words. */
export type SipKey = readonly [number, number, number, number]

/** Reads a key from the first 16 bytes. */
export function sipKeyOf(bytes: Buffer): SipKey {
  return [0, 4, 8, 12].map((at) => bytes.readInt32LE(at)) as [number, number, number, number]
}

/**
 * SipHash-2-4 of a text with one byte per character: Aumasson and Bernstein, "SipHash: a fast short-input
 * PRF" (INDOCRYPT 2012). Without the key the hash reveals nothing about the text. Node's own keyed hashes
 * cost several times as much for short texts.
 *
 * @returns the lower 53 bits, which a number holds exactly
 */
export function sipHash53([k0, k1, k2, k3]: SipKey, text: string): number {
  // Four 64-bit words, each as a low and a high half.
  let v0 = k0 ^ 0x70736575
  let v0High = k1 ^ 0x736f6d65
  let v1 = k2 ^ 0x6e646f6d
  let v1High = k3 ^ 0x646f7261
  let v2 = k0 ^ 0x6e657261
  let v2High = k1 ^ 0x6c796765
  let v3 = k2 ^ 0x79746573
  let v3High = k3 ^ 0x74656462

  function round(): void {
    let sum = (v0 >>> 0) + (v1 >>> 0)
    v0High = (v0High + v1High + (sum > 0xffff_ffff ? 1 : 0)) | 0
    v0 = sum | 0
    let low = v1
    v1 = ((v1 << 13) | (v1High >>> 19)) ^ v0
    v1High = ((v1High << 13) | (low >>> 19)) ^ v0High
    low = v0
    v0 = v0High
    v0High = low
    sum = (v2 >>> 0) + (v3 >>> 0)
    v2High = (v2High + v3High + (sum > 0xffff_ffff ? 1 : 0)) | 0
    v2 = sum | 0
    low = v3
    v3 = ((v3 << 16) | (v3High >>> 16)) ^ v2
    v3High = ((v3High << 16) | (low >>> 16)) ^ v2High
    sum = (v0 >>> 0) + (v3 >>> 0)
    v0High = (v0High + v3High + (sum > 0xffff_ffff ? 1 : 0)) | 0
    v0 = sum | 0
    low = v3
    v3 = ((v3 << 21) | (v3High >>> 11)) ^ v0
    v3High = ((v3High << 21) | (low >>> 11)) ^ v0High
    sum = (v2 >>> 0) + (v1 >>> 0)
    v2High = (v2High + v1High + (sum > 0xffff_ffff ? 1 : 0)) | 0
    v2 = sum | 0
    low = v1
    v1 = ((v1 << 17) | (v1High >>> 15)) ^ v2
    v1High = ((v1High << 17) | (low >>> 15)) ^ v2High
    low = v2
    v2 = v2High
    v2High = low
  }

  function absorb(low: number, high: number): void {
    v3 ^= low
    v3High ^= high
    round()
    round()
    v0 ^= low
    v0High ^= high
  }

  const whole = text.length - (text.length % 8)
  for (let at = 0; at < whole; at += 8) absorb(wordAt(text, at), wordAt(text, at + 4))
  absorb(wordAt(text, whole), wordAt(text, whole + 4) | (text.length << 24))
  v2 ^= 0xff
  for (let last = 0; last < 4; last += 1) round()
  const high = (v0High ^ v1High ^ v2High ^ v3High) & 0x1f_ffff
  return high * 2 ** 32 + ((v0 ^ v1 ^ v2 ^ v3) >>> 0)
}

/** Reads four characters as a word; characters beyond the end of the text are zeros. */
function wordAt(text: string, at: number): number {
  return (
    byteAt(text, at) |
    (byteAt(text, at + 1) << 8) |
    (byteAt(text, at + 2) << 16) |
    (byteAt(text, at + 3) << 24)
  )
}

function byteAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) & 0xff : 0
}
