import { Decrypter, Encrypter } from 'age-encryption'
import { DamagedBackup } from './manifest.ts'

/** Encrypts and decrypts what is stored in a target. */
export type BackupCipher = {
  /** Returns the bytes unchanged when there is no recipient. */
  encrypt(bytes: Uint8Array): Promise<Uint8Array>
  /**
   * @throws {WrongIdentity} when no identity can decrypt the bytes
   * @throws {DamagedBackup} when they are damaged
   */
  decrypt(bytes: Uint8Array): Promise<Uint8Array>
  /** Returns a function from a number of bytes to their size as `encrypt` returns them. */
  measure(): Promise<(bytes: number) => number>
  readonly isEncrypting: boolean
}

/** The keys of age with which encrypted backups are read. */
export type Identities = {
  /** As `AGE-SECRET-KEY-1…`. */
  readonly keys: readonly string[]
  /** The file in which they are, for messages. */
  readonly file: string
}

/**
 * @param keys.recipients who can decrypt what is encrypted, as `age1…`; none to encrypt nothing
 * @throws when one of the keys is malformed; the message names it, or the file in which it is
 */
export function openCipher(keys: {
  readonly recipients: readonly string[]
  readonly identities: Identities | undefined
}): BackupCipher {
  const encrypter = new Encrypter()
  for (const recipient of keys.recipients) {
    naming(`"${recipient}" is not a recipient of age`, () => encrypter.addRecipient(recipient))
  }
  const { identities } = keys
  const decrypter = new Decrypter()
  for (const identity of identities?.keys ?? []) {
    naming(`${identities?.file} has a malformed identity of age`, () =>
      decrypter.addIdentity(identity),
    )
  }
  const isEncrypting = keys.recipients.length > 0
  return {
    isEncrypting,
    encrypt: async (bytes) => (isEncrypting ? encrypter.encrypt(bytes) : bytes),
    async measure() {
      if (!isEncrypting) return (bytes) => bytes
      const nothing = await encrypter.encrypt(new Blob([]).stream())
      await nothing.cancel()
      return (bytes) => nothing.size(bytes)
    },
    async decrypt(bytes) {
      if (identities === undefined) {
        throw new Error(
          'The backup is encrypted. Name the file with the age identity by --identity or TERSE_BACKUP_IDENTITY_FILE.',
        )
      }
      try {
        return await decrypter.decrypt(bytes)
      } catch (error) {
        if (/no identity matched/.test(String(error))) throw new WrongIdentity(identities.file)
        throw new DamagedBackup(`what is stored cannot be decrypted (${textOf(error)})`)
      }
    },
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Thrown when no identity can decrypt what is stored. */
export class WrongIdentity extends Error {
  override readonly name = 'WrongIdentity'

  constructor(file: string) {
    super(
      `No identity in ${file} can decrypt the backup: it was encrypted to other recipients. Name the file with the right one by --identity or TERSE_BACKUP_IDENTITY_FILE.`,
    )
  }
}

function naming(what: string, add: () => void): void {
  try {
    add()
  } catch {
    // The library's reason says less, and might contain a part of the key.
    throw new Error(`${what}. Copy it as age-keygen printed it.`)
  }
}

/** Returns the identities in a file as `age-keygen` writes it. */
export function parseIdentities(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('AGE-SECRET-KEY-'))
}
