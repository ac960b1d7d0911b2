import { argon2Sync } from 'node:crypto'

/** The OWASP Password Storage Cheat Sheet's first choice for argon2id: 19 MiB, two passes. */
const COST = { memory: 19_456, passes: 2 }

/** Bytes of a hash. */
export const HASH_BYTES = 32

export type HashTask = { readonly text: string; readonly salt: Uint8Array }

/**
 * Hashes a password. Call it off the main thread: it takes about 25 ms of one core.
 *
 * @param cost less only in tests: hashes of other costs do not match
 */
export function argon2id({ text, salt }: HashTask, cost = COST): Uint8Array {
  return argon2Sync('argon2id', {
    message: text.normalize('NFC'),
    nonce: salt,
    parallelism: 1,
    tagLength: HASH_BYTES,
    ...cost,
  })
}
