import { timingSafeEqual } from 'node:crypto'
import type { Random } from '../platform/crypto/random.ts'
import { sealing } from '../platform/crypto/sealing.ts'
import { HASH_BYTES } from '../platform/passwords/argon2id.ts'
import type { PasswordHasher } from '../platform/passwords/password-hasher.ts'

/**
 * Seals link passwords for storage. The sealed strings may be shown: each is the argon2id hash, encrypted
 * under the instance's key, so the text cannot be guessed offline without that key.
 */
export type PasswordVault = {
  /** @throws {QueueRefusal} when too many passwords are being hashed */
  seal(text: string, use: VaultUse): Promise<string>
  /** Whether the string has the form of a sealed password. One of an earlier release must also decrypt. */
  isSealed(text: string): boolean
  /**
   * Returns false for a wrong text, and for a string that this vault has not sealed for this link.
   *
   * @param use.onTurn called just before the text is hashed; an error that it throws cancels the hashing
   *   and is thrown to the caller
   * @throws {QueueRefusal} when too many passwords are being hashed
   */
  verify(
    sealed: string,
    text: string,
    use: VaultUse & { readonly onTurn?: () => void },
  ): Promise<boolean>
}

type VaultUse = {
  /** The link whose password it is. */
  readonly linkId: string
  /** The owner in the hasher's fair queue. */
  readonly owner: string
}

/** The sealed string is bound to one link. */
const PREFIX = 'sealed2_'
const SHAPE = /^sealed2_[A-Za-z0-9_-]{102}$/
/** Strings of an earlier release, which are valid for any link. */
const UNBOUND_PREFIX = 'sealed_'
const SALT_BYTES = 16

type Opened = { readonly salt: Buffer; readonly hash: Buffer }

/** @param key 32 bytes that are used for this vault only */
export function passwordVault(key: Buffer, random: Random, hasher: PasswordHasher): PasswordVault {
  const box = sealing(key, random)

  function open(sealed: string, linkId: string): Opened | undefined {
    return sealed.startsWith(PREFIX)
      ? unseal(sealed.slice(PREFIX.length), contextOf(linkId))
      : openUnbound(sealed)
  }

  function openUnbound(sealed: string): Opened | undefined {
    if (!sealed.startsWith(UNBOUND_PREFIX)) return undefined
    return unseal(sealed.slice(UNBOUND_PREFIX.length), '')
  }

  function unseal(text: string, context: string): Opened | undefined {
    const bytes = Buffer.from(text, 'base64url')
    // Node decodes leniently: without this check, several strings would decode to the same bytes.
    if (bytes.toString('base64url') !== text) return undefined
    const plain = box.unseal(bytes, context)
    if (plain?.length !== SALT_BYTES + HASH_BYTES) return undefined
    return { salt: plain.subarray(0, SALT_BYTES), hash: plain.subarray(SALT_BYTES) }
  }

  return {
    async seal(text, { linkId, owner }) {
      const salt = random(SALT_BYTES)
      const hash = await hasher.hash(owner, { text, salt })
      const sealed = box.seal(Buffer.concat([salt, hash]), contextOf(linkId))
      return PREFIX + sealed.toString('base64url')
    },
    isSealed: (text) => SHAPE.test(text) || openUnbound(text) !== undefined,
    async verify(sealed, text, { linkId, owner, onTurn }) {
      const opened = open(sealed, linkId)
      if (opened === undefined) return false
      const hash = await hasher.hash(owner, { text, salt: opened.salt }, onTurn)
      return timingSafeEqual(hash, opened.hash)
    },
  }
}

/** Binds the sealed string to the link's id, so that it survives changes of key and domain. */
function contextOf(linkId: string): string {
  return `link ${linkId}`
}
