import { timingSafeEqual } from 'node:crypto'
import type { Random } from '../crypto/random.ts'
import { sealing } from '../crypto/sealing.ts'
import { HASH_BYTES } from './argon2id.ts'
import type { PasswordHasher } from './password-hasher.ts'

/**
 * Seals passwords, of links and of people, for storage. The sealed strings may be shown: each is the argon2id
 * hash, encrypted under the instance's key, so the text cannot be guessed offline without that key.
 */
export type PasswordVault = {
  /** @throws {QueueRefusal} when too many passwords are being hashed */
  seal(text: string, use: VaultUse): Promise<string>
  /**
   * Returns the sealed form of an unknown password. Costs no hashing: a random hash is that of no text that
   * could be found.
   */
  sealUnknown(boundTo: string): string
  /** Whether the string has the form of a sealed password. One of an earlier release must also decrypt. */
  isSealed(text: string): boolean
  /**
   * Returns false for a wrong text, and for a string that this vault has not sealed for the same `boundTo`.
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
  /**
   * Costs what `verify` does, for a caller that has nothing to compare with and must not show it by its speed.
   *
   * @throws {QueueRefusal} when too many passwords are being hashed
   */
  hashNothing(
    text: string,
    use: Pick<VaultUse, 'owner'> & { readonly onTurn?: () => void },
  ): Promise<void>
}

type VaultUse = {
  /** What the password protects, such as `link <id>`. The string is valid for nothing else. */
  readonly boundTo: string
  /** The owner in the hasher's fair queue. */
  readonly owner: string
}

/** The sealed string is bound to one `boundTo`. */
const PREFIX = 'sealed2_'
const SHAPE = /^sealed2_[A-Za-z0-9_-]{102}$/
/** Strings of an earlier release, which are valid for any `boundTo`. */
const UNBOUND_PREFIX = 'sealed_'
const SALT_BYTES = 16

type Opened = { readonly salt: Buffer; readonly hash: Buffer }

/** @param key 32 bytes that are used for this vault only */
export function passwordVault(key: Buffer, random: Random, hasher: PasswordHasher): PasswordVault {
  const box = sealing(key, random)

  function open(sealed: string, boundTo: string): Opened | undefined {
    return sealed.startsWith(PREFIX)
      ? unseal(sealed.slice(PREFIX.length), boundTo)
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

  const sealBytes = (bytes: Uint8Array, boundTo: string) =>
    PREFIX + box.seal(bytes, boundTo).toString('base64url')

  return {
    async seal(text, { boundTo, owner }) {
      const salt = random(SALT_BYTES)
      const hash = await hasher.hash(owner, { text, salt })
      return sealBytes(Buffer.concat([salt, hash]), boundTo)
    },
    sealUnknown: (boundTo) => sealBytes(random(SALT_BYTES + HASH_BYTES), boundTo),
    isSealed: (text) => SHAPE.test(text) || openUnbound(text) !== undefined,
    async verify(sealed, text, { boundTo, owner, onTurn }) {
      const opened = open(sealed, boundTo)
      if (opened === undefined) return false
      const hash = await hasher.hash(owner, { text, salt: opened.salt }, onTurn)
      return timingSafeEqual(hash, opened.hash)
    },
    async hashNothing(text, { owner, onTurn }) {
      await hasher.hash(owner, { text, salt: random(SALT_BYTES) }, onTurn)
    },
  }
}
