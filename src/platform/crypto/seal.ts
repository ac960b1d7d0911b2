import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from './random.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals bytes under a 32-byte key, for keys, texts and contexts of which nothing else is made. */
export type Sealing = {
  /** Nonce, tag and ciphertext (AES-256-GCM). */
  seal(plain: Uint8Array, context?: string): Buffer
  /** Undefined for what was not sealed under this key and context, or was altered since. */
  unseal(sealed: Uint8Array, context?: string): Buffer | undefined
}

/**
 * @param key 32 bytes, for nothing else
 * @returns what seals; the context of both operations is not kept in what is sealed, and must be the same
 */
export function sealing(key: Buffer, random: Random): Sealing {
  return {
    seal(plain, context = '') {
      const nonce = random(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce)
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    unseal(sealed, context = '') {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(context))
      cipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      try {
        const plain = cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([plain, cipher.final()])
      } catch {
        return undefined
      }
    },
  }
}
