import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  type BackupCipher,
  type Identities,
  openCipher,
  parseIdentities,
  parsePublicKey,
  parseSigningKey,
  type Signer,
} from '../../backup/index.ts'

/**
 * Opens what a backup is encrypted and signed with, and proves that it can be read again if it is to be verified.
 *
 * @throws when a key is malformed or missing, or no identity belongs to any of the recipients; the message names the
 *   key or its file
 */
export async function openBackupKeys({
  recipients,
  identityFile,
  signingKeyFile,
  verifies,
}: {
  readonly recipients: readonly string[]
  readonly identityFile: string | undefined
  readonly signingKeyFile: string | undefined
  readonly verifies: boolean
}): Promise<{ readonly cipher: BackupCipher; readonly signingKey: KeyObject | undefined }> {
  const cipher = openCipher({ recipients, identities: readIdentities(identityFile) })
  if (verifies && cipher.isEncrypting) {
    if (identityFile === undefined) {
      throw new Error(
        'An encrypted backup is verified by decrypting it: name the file with the age identity by --identity or TERSE_BACKUP_IDENTITY_FILE.',
      )
    }
    await cipher.decrypt(await cipher.encrypt(Buffer.from('readable')))
  }
  return { cipher, signingKey: readSigningKey(signingKeyFile) }
}

/**
 * Returns the identities in a file of `age-keygen`; undefined for no file.
 *
 * @throws when it cannot be read or has none
 */
export function readIdentities(file: string | undefined): Identities | undefined {
  if (file === undefined) return undefined
  const keys = parseIdentities(readText(file, 'the age identity'))
  if (keys.length === 0) throw new Error(`${file} has no age identity (AGE-SECRET-KEY-…).`)
  return { keys, file }
}

function readSigningKey(file: string | undefined): KeyObject | undefined {
  if (file === undefined) return undefined
  const key = parseSigningKey(readText(file, 'the key that signs backups'))
  if (key !== undefined) return key
  throw new Error(
    `${file} has no private key of Ed25519. Make one: openssl genpkey -algorithm ed25519 -out ${file}`,
  )
}

/**
 * Returns the signer whose public key is in a file; undefined for no file.
 *
 * @throws when it cannot be read or has none
 */
export function readSigner(file: string | undefined): Signer | undefined {
  if (file === undefined) return undefined
  const publicKey = parsePublicKey(readText(file, 'the public key'))
  if (publicKey !== undefined) return { publicKey, file }
  throw new Error(
    `${file} has no public key of Ed25519. Make it from the key that signs: openssl pkey -in KEY -pubout -out ${file}`,
  )
}

/** @throws with the name of the file, and what should be in it */
function readText(file: string, content: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(`The file with ${content} cannot be read: ${file} (${code}).`)
  }
}
