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
import type { BackupTarget } from './targets/backup-target.ts'

const FOLDER = 'backups/'
const EXTENSION = '.json'
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
   * @throws {DamagedBackup} when its manifest is damaged
   * @throws when there is no such backup, or it was made by a newer release
   */
  async read(name: string): Promise<StoredManifest> {
    return parseManifest(await this.#readText(name), name)
  }

  /**
   * Lists all complete backups, the oldest first. One whose manifest is damaged is listed too: it must neither
   * keep later backups from being made nor lose its blocks.
   *
   * @throws when one was made by a newer release
   */
  async list(): Promise<readonly ListedBackup[]> {
    const backups: ListedBackup[] = []
    for (const name of await this.names()) {
      const text = await this.#readText(name)
      const head = headOf(text, name)
      const blocks = head?.blocks ?? findBlockNames(text)
      backups.push({ name, at: parseBackupName(name), head, blocks })
    }
    return backups
  }

  /** Makes a backup complete. Its blocks must be stored. */
  async add(head: BackupHead, content: BackupContent, cipher: BackupCipher): Promise<void> {
    const manifest: StoredManifest = cipher.isEncrypting
      ? { ...head, encrypted: await encryptContent(content, cipher) }
      : { ...head, content }
    await this.#target.write(objectName(head.name), Buffer.from(JSON.stringify(manifest)))
  }

  async remove(name: string): Promise<void> {
    await this.#target.remove(objectName(name))
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

  async #readText(name: string): Promise<string> {
    const bytes = await this.#target.read(objectName(name))
    if (bytes === undefined) throw new Error(`There is no backup ${name} in ${this.#target.label}.`)
    return bytes.toString('utf8')
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
