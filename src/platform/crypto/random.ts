import { randomBytes } from 'node:crypto'
import type { Clock } from '../time/clock.ts'

/** A source of cryptographically strong random bytes; tests pass a deterministic one. */
export type Random = (sizeBytes: number) => Uint8Array

/** Bytes drawn per system call: a call costs more than the few bytes that callers need. */
const POOL_BYTES = 4096
let pool = Buffer.alloc(0)

/** Returns each byte once; the pool erases the bytes that it hands out. */
export const systemRandom: Random = (sizeBytes) => {
  if (sizeBytes > POOL_BYTES) return randomBytes(sizeBytes)
  if (sizeBytes > pool.length) pool = randomBytes(POOL_BYTES)
  const bytes = Buffer.from(pool.subarray(0, sizeBytes))
  pool.fill(0, 0, sizeBytes)
  pool = pool.subarray(sizeBytes)
  return bytes
}

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Returns a string of `length` characters drawn uniformly from `alphabet` (at most 256 characters). Bytes
 * that would favour the first characters of the alphabet are rejected.
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

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Returns when a version 7 UUID was created, in Unix milliseconds; undefined for UUIDs of other versions. */
export function uuidTimeMs(uuid: string): number | undefined {
  return uuid[14] === '7' ? Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16) : undefined
}

/** Creates a version 7 UUID: 48 bits of Unix milliseconds, then 74 random bits (RFC 9562, section 5.7). */
export function uuidV7(clock: Clock, random: Random): string {
  const bytes = Buffer.from(random(16))
  bytes.writeUIntBE(Math.floor(clock.nowMicros() / 1000), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
