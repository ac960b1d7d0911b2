import type { BackupCipher } from './encryption.ts'
import {
  type BackupContent,
  type BackupHead,
  isBackupName,
  parseContent,
  parseManifest,
  type StoredManifest,
} from './manifest.ts'
import type { BackupTarget } from './targets/backup-target.ts'

const FOLDER = 'backups/'
const EXTENSION = '.json'
/** Names the data folder whose backups these are. */
const OWNER = 'owner.json'

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

  /** @throws when there is no such backup, or its manifest is damaged or of a newer release */
  async read(name: string): Promise<StoredManifest> {
    const bytes = await this.#target.read(objectName(name))
    if (bytes === undefined) throw new Error(`There is no backup ${name} in ${this.#target.label}.`)
    return parseManifest(bytes.toString('utf8'), name)
  }

  /** Makes a backup complete. Its blocks must be stored. */
  async add(head: BackupHead, content: BackupContent, cipher: BackupCipher): Promise<void> {
    const manifest: StoredManifest = cipher.isEncrypting
      ? { ...head, encrypted: await encrypted(content, cipher) }
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
}

/** Returns what a manifest describes, decrypted if necessary. */
export async function contentOf(
  manifest: StoredManifest,
  decrypt: BackupCipher['decrypt'],
): Promise<BackupContent> {
  if ('content' in manifest) return manifest.content
  const bytes = await decrypt(Buffer.from(manifest.encrypted, 'base64'))
  return parseContent(Buffer.from(bytes).toString('utf8'), manifest.name)
}

async function encrypted(content: BackupContent, cipher: BackupCipher): Promise<string> {
  const bytes = await cipher.encrypt(Buffer.from(JSON.stringify(content)))
  return Buffer.from(bytes).toString('base64')
}

function objectName(name: string): string {
  return `${FOLDER}${name}${EXTENSION}`
}
