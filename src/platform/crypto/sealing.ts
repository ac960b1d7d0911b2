import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from './random.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Authenticated encryption with one key. */
export type Sealing = {
  /** Encrypts with AES-256-GCM. Returns nonce, tag and ciphertext. */
  seal(plain: Uint8Array, context?: string): Buffer
  /** Decrypts. Undefined when the key or the context differs, or the bytes were altered. */
  unseal(sealed: Uint8Array, context?: string): Buffer | undefined
}

/**
 * The context of `seal` and `unseal` is authenticated but not stored in the sealed bytes, so both calls must
 * pass the same one.
 *
 * @param key 32 bytes, used for this purpose only
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
