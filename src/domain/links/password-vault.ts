import { type Argon2Parameters, argon2, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../lib/random.ts'
import { sealing } from '../../lib/seal.ts'

/**
 * Keeps link passwords. What it returns may be shown: it is the argon2id hash, sealed under the
 * instance's key, so that it cannot be guessed offline without that key.
 */
export type PasswordVault = {
  seal(text: string): Promise<string>
  /** Whether the string was sealed here, and not altered since. */
  isSealed(sealed: string): boolean
  /** False for a wrong text, and for a string that was not sealed here. */
  verify(sealed: string, text: string): Promise<boolean>
}

/** The OWASP Password Storage Cheat Sheet's first choice for argon2id: 19 MiB, two passes. */
const MEMORY_KIB = 19_456
const PASSES = 2

const PREFIX = 'sealed_'
const SALT_BYTES = 16
const HASH_BYTES = 32

/** @param key 32 bytes, for nothing but this vault */
export function passwordVault(key: Buffer, random: Random): PasswordVault {
  const box = sealing(key, random)

  function open(sealed: string): { salt: Buffer; hash: Buffer } | undefined {
    if (!sealed.startsWith(PREFIX)) return undefined
    const text = sealed.slice(PREFIX.length)
    const bytes = Buffer.from(text, 'base64url')
    // Node decodes leniently: without this, several strings would stand for one sealed password.
    if (bytes.toString('base64url') !== text) return undefined
    const plain = box.unseal(bytes)
    if (plain?.length !== SALT_BYTES + HASH_BYTES) return undefined
    return { salt: plain.subarray(0, SALT_BYTES), hash: plain.subarray(SALT_BYTES) }
  }

  return {
    async seal(text) {
      const salt = Buffer.from(random(SALT_BYTES))
      const hash = await argon2id(text, salt)
      return PREFIX + box.seal(Buffer.concat([salt, hash])).toString('base64url')
    },
    isSealed: (sealed) => open(sealed) !== undefined,
    async verify(sealed, text) {
      const opened = open(sealed)
      if (opened === undefined) return false
      return timingSafeEqual(await argon2id(text, opened.salt), opened.hash)
    },
  }
}

function argon2id(text: string, salt: Buffer): Promise<Buffer> {
  const parameters: Argon2Parameters = {
    message: text.normalize('NFC'),
    nonce: salt,
    parallelism: 1,
    tagLength: HASH_BYTES,
    memory: MEMORY_KIB,
    passes: PASSES,
  }
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, hash) => (error ? reject(error) : resolve(hash)))
  })
}
