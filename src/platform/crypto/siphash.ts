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
  state[V0] = k0 ^ 0x70736575
  state[V0 + HIGH] = k1 ^ 0x736f6d65
  state[V1] = k2 ^ 0x6e646f6d
  state[V1 + HIGH] = k3 ^ 0x646f7261
  state[V2] = k0 ^ 0x6e657261
  state[V2 + HIGH] = k1 ^ 0x6c796765
  state[V3] = k2 ^ 0x79746573
  state[V3 + HIGH] = k3 ^ 0x74656462
  const whole = text.length - (text.length % 8)
  for (let at = 0; at < whole; at += 8) absorb(wordAt(text, at), wordAt(text, at + 4))
  absorb(wordAt(text, whole), wordAt(text, whole + 4) | (text.length << 24))
  change(V2, 0xff)
  mix(4)
  let low = 0
  let high = 0
  for (let word = 0; word < state.length; word += 2) {
    low ^= state[word] as number
    high ^= state[word + HIGH] as number
  }
  return (high & 0x1f_ffff) * 2 ** 32 + (low >>> 0)
}

/** Four 64-bit words, each as a low and a high half. One for all hashes: they take turns, and allocate nothing. */
const state = new Int32Array(8)
const V0 = 0
const V1 = 2
const V2 = 4
const V3 = 6
const HIGH = 1

function absorb(low: number, high: number): void {
  change(V3, low)
  change(V3 + HIGH, high)
  mix(2)
  change(V0, low)
  change(V0 + HIGH, high)
}

function change(half: number, by: number): void {
  state[half] = (state[half] as number) ^ by
}

function mix(rounds: number): void {
  let v0 = state[V0] as number
  let v0High = state[V0 + HIGH] as number
  let v1 = state[V1] as number
  let v1High = state[V1 + HIGH] as number
  let v2 = state[V2] as number
  let v2High = state[V2 + HIGH] as number
  let v3 = state[V3] as number
  let v3High = state[V3 + HIGH] as number
  for (let round = 0; round < rounds; round += 1) {
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
  state[V0] = v0
  state[V0 + HIGH] = v0High
  state[V1] = v1
  state[V1 + HIGH] = v1High
  state[V2] = v2
  state[V2 + HIGH] = v2High
  state[V3] = v3
  state[V3 + HIGH] = v3High
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
