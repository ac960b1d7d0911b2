import { Decrypter, Encrypter } from 'age-encryption'

/** Encrypts and decrypts what is stored in a target. */
export type BackupCipher = {
  /** Returns the bytes unchanged when there is no recipient. */
  encrypt(bytes: Uint8Array): Promise<Uint8Array>
  /** @throws when no identity can decrypt the bytes, or they are damaged */
  decrypt(bytes: Uint8Array): Promise<Uint8Array>
  readonly isEncrypting: boolean
}

/**
 * @param keys.recipients who can decrypt what is encrypted, as `age1…`; none to encrypt nothing
 * @param keys.identities to decrypt, as `AGE-SECRET-KEY-1…`
 * @throws when one of them is malformed
 */
export function openCipher(keys: {
  readonly recipients: readonly string[]
  readonly identities: readonly string[]
}): BackupCipher {
  const encrypter = new Encrypter()
  for (const recipient of keys.recipients) encrypter.addRecipient(recipient)
  const decrypter = new Decrypter()
  for (const identity of keys.identities) decrypter.addIdentity(identity)
  const isEncrypting = keys.recipients.length > 0
  return {
    isEncrypting,
    encrypt: async (bytes) => (isEncrypting ? encrypter.encrypt(bytes) : bytes),
    async decrypt(bytes) {
      if (keys.identities.length === 0) {
        throw new Error(
          'The backup is encrypted. Name the file with the age identity by --identity or TERSE_BACKUP_IDENTITY_FILE.',
        )
      }
      return decrypter.decrypt(bytes)
    },
  }
}

/** Returns the identities in a file as `age-keygen` writes it. */
export function parseIdentities(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('AGE-SECRET-KEY-'))
}
