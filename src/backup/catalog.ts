import type { KeyObject } from 'node:crypto'
import type { BackupCipher } from './encryption.ts'
import {
  type BackupContent,
  type BackupHead,
  DamagedBackup,
  damagedManifest,
  findBlockNames,
  isBackupName,
  parseBackupName,
  parseContent,
  parseManifest,
  type StoredManifest,
} from './manifest.ts'
import { isSignedBy, NotSigned, type Signer, signManifest } from './signature.ts'
import type { BackupTarget } from './targets/backup-target.ts'

const FOLDER = 'backups/'
const EXTENSION = '.json'
/** Beside a manifest: the signature of its bytes. */
const SIGNATURE = '.sig'
/** Names the data folder whose backups these are. */
const OWNER = 'owner.json'

/** A backup, as far as its manifest can be read. */
type ListedBackup = {
  readonly name: string
  readonly at: Date
  /** Undefined when the manifest is damaged. */
  readonly head: BackupHead | undefined
  /** Every block that the backup needs; of a damaged manifest, those whose names can still be read. */
  readonly blocks: readonly string[]
  /** Whether the demanded signer has signed it; undefined when none was demanded. */
  readonly isSigned: boolean | undefined
}

/** The complete backups of a target. A backup without a manifest does not exist. */
export class BackupCatalog {
  readonly #target: BackupTarget

  constructor(target: BackupTarget) {
    this.#target = target
  }

  /** The names of all complete backups, the oldest first. */
  async names(): Promise<readonly string[]> {
    const objects = await this.#target.list(FOLDER)
    return objects
      .map(({ name }) => name.slice(FOLDER.length))
      .filter((name) => name.endsWith(EXTENSION))
      .map((name) => name.slice(0, -EXTENSION.length))
      .filter(isBackupName)
      .sort()
  }

  /**
   * @param signer who must have signed the backup; nothing of a manifest is read before that is known
   * @throws {NotSigned} when the signer has not
   * @throws {DamagedBackup} when its manifest is damaged
   * @throws when there is no such backup, or it was made by a newer release
   */
  async read(name: string, signer?: Signer): Promise<StoredManifest> {
    const bytes = await this.#readBytes(name)
    if (signer !== undefined && !(await this.#isSigned(name, bytes, signer))) {
      throw new NotSigned(
        `The backup ${name} in ${this.#target.label} is not signed by the key in ${signer.file}, or was changed since. Find one that is: add --list.`,
      )
    }
    return parseManifest(bytes.toString('utf8'), name)
  }

  /**
   * Lists all complete backups, the oldest first. One whose manifest is damaged is listed too: it must neither
   * keep later backups from being made nor lose its blocks.
   *
   * @throws when one was made by a newer release
   */
  async list(signer?: Signer): Promise<readonly ListedBackup[]> {
    const backups: ListedBackup[] = []
    for (const name of await this.names()) {
      const bytes = await this.#readBytes(name)
      const text = bytes.toString('utf8')
      const head = headOf(text, name)
      const blocks = head?.blocks ?? findBlockNames(text)
      const isSigned = signer && (await this.#isSigned(name, bytes, signer))
      backups.push({ name, at: parseBackupName(name), head, blocks, isSigned })
    }
    return backups
  }

  /** Makes a backup complete, and signs it if there is a key. Its blocks must be stored. */
  async add(
    head: BackupHead,
    content: BackupContent,
    {
      cipher,
      signingKey,
    }: { readonly cipher: BackupCipher; readonly signingKey: KeyObject | undefined },
  ): Promise<void> {
    const manifest: StoredManifest = cipher.isEncrypting
      ? { ...head, encrypted: await encryptContent(content, cipher) }
      : { ...head, content }
    const bytes = Buffer.from(JSON.stringify(manifest))
    // First, so that no backup is complete without its signature.
    if (signingKey !== undefined) {
      await this.#target.write(signatureName(head.name), signManifest(bytes, signingKey))
    }
    await this.#target.write(objectName(head.name), bytes)
  }

  async remove(name: string): Promise<void> {
    await this.#target.remove(objectName(name))
    await this.#target.remove(signatureName(name))
  }

  /** Removes signatures of backups that are not complete: a killed process leaves them. */
  async sweep(): Promise<void> {
    const objects = new Set((await this.#target.list(FOLDER)).map(({ name }) => name))
    for (const name of objects) {
      if (!name.endsWith(SIGNATURE)) continue
      const isNeeded = objects.has(name.slice(0, -SIGNATURE.length) + EXTENSION)
      if (!isNeeded) await this.#target.remove(name)
    }
  }

  /** The data folder that these are backups of; undefined for a new target. */
  async owner(): Promise<string | undefined> {
    const bytes = await this.#target.read(OWNER)
    if (bytes === undefined) return undefined
    try {
      return String(JSON.parse(bytes.toString('utf8')).dataFolder)
    } catch {
      return 'unknown'
    }
  }

  async setOwner(dataFolder: string): Promise<void> {
    await this.#target.write(OWNER, Buffer.from(JSON.stringify({ dataFolder })))
  }

  async #isSigned(name: string, manifest: Buffer, signer: Signer): Promise<boolean> {
    return isSignedBy(signer, manifest, await this.#target.read(signatureName(name)))
  }

  async #readBytes(name: string): Promise<Buffer> {
    const bytes = await this.#target.read(objectName(name))
    if (bytes === undefined) throw new Error(`There is no backup ${name} in ${this.#target.label}.`)
    return bytes
  }
}

function headOf(text: string, name: string): BackupHead | undefined {
  try {
    return parseManifest(text, name)
  } catch (error) {
    if (error instanceof DamagedBackup) return undefined
    throw error
  }
}

/**
 * Returns what a manifest describes, decrypted if necessary.
 *
 * @throws {DamagedBackup} when it is damaged
 * @throws when it cannot be decrypted for want of the right identity
 */
export async function contentOf(
  manifest: StoredManifest,
  decrypt: BackupCipher['decrypt'],
): Promise<BackupContent> {
  if ('content' in manifest) return manifest.content
  const { name, encrypted } = manifest
  let bytes: Uint8Array
  try {
    bytes = await decrypt(Buffer.from(encrypted, 'base64'))
  } catch (error) {
    throw error instanceof DamagedBackup ? damagedManifest(name) : error
  }
  return parseContent(Buffer.from(bytes).toString('utf8'), name)
}

async function encryptContent(content: BackupContent, cipher: BackupCipher): Promise<string> {
  const bytes = await cipher.encrypt(Buffer.from(JSON.stringify(content)))
  return Buffer.from(bytes).toString('base64')
}

function objectName(name: string): string {
  return `${FOLDER}${name}${EXTENSION}`
}

function signatureName(name: string): string {
  return `${FOLDER}${name}${SIGNATURE}`
}
