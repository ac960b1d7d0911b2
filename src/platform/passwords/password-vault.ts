import { timingSafeEqual } from 'node:crypto'
import type { Random } from '../crypto/random.ts'
import { sealing } from '../crypto/sealing.ts'
import { HASH_BYTES } from './argon2id.ts'
import type { PasswordHasher } from './password-hasher.ts'

/**
 * Stores passwords, of links or of people. The strings that it returns may be shown: each is the argon2id hash, sealed
 * under the instance's key, so that without that key nobody can guess the text offline.
 */
export type PasswordVault = {
  /** @throws {QueueRefusal} when too many passwords are being hashed */
  seal(text: string, use: VaultUse): Promise<string>
  /** Whether the string has the form of a sealed password. An earlier release's must open, too. */
  isSealed(text: string): boolean
  /**
   * False for a wrong text, and for a string that was not sealed here for the same `boundTo`.
   *
   * @param use.onTurn called right before the text is hashed; what it throws is thrown here instead
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
  /** What the password protects, such as `link <id>`. The string opens for nothing else. */
  readonly boundTo: string
  /** Whose share of the hashing it takes. */
  readonly owner: string
}

/** A string that opens for what it is bound to alone. */
const PREFIX = 'sealed2_'
const SHAPE = /^sealed2_[A-Za-z0-9_-]{102}$/
/** A string of an earlier release, which opens for anything. */
const UNBOUND_PREFIX = 'sealed_'
const SALT_BYTES = 16

type Opened = { readonly salt: Buffer; readonly hash: Buffer }

/** @param key 32 bytes, for nothing but this vault */
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
    // Node decodes leniently: without this, several strings would stand for one sealed password.
    if (bytes.toString('base64url') !== text) return undefined
    const plain = box.unseal(bytes, context)
    if (plain?.length !== SALT_BYTES + HASH_BYTES) return undefined
    return { salt: plain.subarray(0, SALT_BYTES), hash: plain.subarray(SALT_BYTES) }
  }

  return {
    async seal(text, { boundTo, owner }) {
      const salt = random(SALT_BYTES)
      const hash = await hasher.hash(owner, { text, salt })
      const sealed = box.seal(Buffer.concat([salt, hash]), boundTo)
      return PREFIX + sealed.toString('base64url')
    },
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
