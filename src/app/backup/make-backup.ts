import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import {
  BackupCatalog,
  type BackupCipher,
  type BackupContent,
  type BackupFile,
  type BackupHead,
  type BackupTarget,
  BlockStore,
  formatBackupName,
  MANIFEST_FORMAT,
  NoRoom,
  openCipher,
  openTarget,
  type Retention,
  type S3Access,
} from '../../backup/index.ts'
import { NoInstance } from '../../platform/database/no-instance.ts'
import { sqliteFolderFault } from '../../platform/database/sqlite/errors.ts'
import { createFolder } from '../../platform/disk/create-folder.ts'
import { readDiskSpace } from '../../platform/disk/disk-space.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { VERSION } from '../../platform/process/version.ts'
import { loadSecretKey } from '../config/secret-key.ts'
import { lockName } from '../database/sqlite/folder-lock.ts'
import { type BackupRecords, readBackupRecords, writeBackupRecords } from './backup-records.ts'
import { pinDataFolder, pinJournals } from './pin-data-folder.ts'
import { pruneBackups } from './prune-backups.ts'
import { knownDays, type StoredDays, storePinned } from './store-pinned.ts'
import { verifyBackup } from './verify-backup.ts'

/** What to back up, where to, and how. */
export type BackupRequest = {
  readonly dataDir: string
  /** Undefined with SQLite. */
  readonly databaseUrl: string | undefined
  /** The secret key, if it is not in the data folder. */
  readonly secretKey: Buffer | undefined
  /** A folder, or a bucket such as `s3://bucket/prefix`. */
  readonly target: string
  readonly s3: S3Access | undefined
  /** Recipients of age; none to store the backup unencrypted. */
  readonly recipients: readonly string[]
  /** Identities of age, to verify an encrypted backup. */
  readonly identities: readonly string[]
  /** Undefined to keep all backups. */
  readonly retention: Retention | undefined
  /** Whether to restore the backup into a temporary folder and compare it. */
  readonly verifies: boolean
  /** Whether to use a target that has the backups of another data folder. */
  readonly takesOver: boolean
}

export type BackupReport = {
  readonly name: string
  readonly consistentAtMs: number
  readonly files: number
  /** What the backup consists of, as stored; and how much of that was new. */
  readonly storedBytes: number
  readonly writtenBytes: number
  readonly isVerified: boolean
  /** Backups that were removed because they are no longer needed. */
  readonly removed: readonly string[]
}

/**
 * Makes a backup of a data folder, whether or not a service uses it.
 *
 * @throws when another backup of the folder is being made, the target cannot be used or has no room, or the
 *   backup could not be verified. Earlier backups are unchanged.
 */
export async function makeBackup(request: BackupRequest): Promise<BackupReport> {
  const { dataDir } = request
  const key = request.secretKey ?? loadSecretKey(dataDir)
  if (key === undefined) throw new NoInstance()
  const cipher = openCipher(request)
  if (request.verifies && cipher.isEncrypting && request.identities.length === 0) {
    throw new Error(
      'An encrypted backup is verified by decrypting it: name the file with the age identity by --identity or TERSE_BACKUP_IDENTITY_FILE.',
    )
  }
  const lock = lockName(dataDir, 'backup')
  if (lock === undefined) throw new Error(`Another backup of ${dataDir} is being made.`)
  try {
    const target = await openTarget(request.target, request.s3, await bytesToKeepFree(request))
    const workFolder = target.workFolder ?? path.join(dataDir, 'backup-work')
    // A killed backup leaves it.
    rmSync(workFolder, { recursive: true, force: true })
    try {
      return await new BackupRun({ request, target, cipher, key, workFolder }).run()
    } finally {
      rmSync(workFolder, { recursive: true, force: true })
    }
  } finally {
    lock.close()
  }
}

type RunParts = {
  readonly request: BackupRequest
  readonly target: BackupTarget
  readonly cipher: BackupCipher
  readonly key: Buffer
  readonly workFolder: string
}

class BackupRun {
  readonly #parts: RunParts
  readonly #catalog: BackupCatalog
  #records: BackupRecords

  constructor(parts: RunParts) {
    this.#parts = parts
    this.#catalog = new BackupCatalog(parts.target)
    this.#records = readBackupRecords(parts.request.dataDir)
  }

  async run(): Promise<BackupReport> {
    const { request, target, cipher } = this.#parts
    await this.#claimTarget()
    const startedAt = new Date()
    const blocks = await BlockStore.open({ target, cipher, nameKey: this.#nameKey() })
    const { head, content, days } = await this.#store(blocks, startedAt)
    await target.sync()
    await this.#catalog.add(head, content, cipher)
    await target.sync()
    const consistentAtMs = Date.parse(head.consistentAt)
    const made = { target: target.label, name: head.name, consistentAtMs }
    const recordedDays = { target: this.#storeName(), files: Object.fromEntries(days) }
    this.#record({ last: made, days: recordedDays })
    if (request.verifies) {
      await verifyBackup(head.name, this.#parts)
      this.#record({ verified: made })
    }
    const removed = await this.#prune(blocks)
    return {
      name: head.name,
      consistentAtMs,
      files: content.files.length,
      storedBytes: head.storedBytes,
      writtenBytes: blocks.writtenBytes,
      isVerified: request.verifies,
      removed,
    }
  }

  async #claimTarget(): Promise<void> {
    const { request, target } = this.#parts
    const { dataFolder } = this.#records
    const owner = await this.#catalog.owner()
    if (owner === dataFolder) return
    if (owner !== undefined && !request.takesOver) {
      throw new Error(
        `${target.label} has the backups of another data folder, or of this one before it was restored. Name a new target, or take it over: ${terseCommand(`backup ${request.target} --take-over`)}`,
      )
    }
    // Recorded first: a target of which this folder does not know would have to be taken over.
    writeBackupRecords(request.dataDir, this.#records)
    await this.#catalog.setOwner(dataFolder)
  }

  async #store(blocks: BlockStore, startedAt: Date) {
    try {
      return await this.#storePinned(blocks, startedAt)
    } catch (error) {
      if (!(error instanceof NoRoom) && sqliteFolderFault(error) !== 'full') throw error
      await pruneBackups({ catalog: this.#catalog, blocks, retention: undefined, kept: new Set() })
      throw error instanceof NoRoom ? error : new NoRoom(this.#parts.workFolder)
    }
  }

  async #storePinned(blocks: BlockStore, startedAt: Date) {
    const { request, workFolder } = this.#parts
    const { dataDir, databaseUrl } = request
    createFolder(workFolder)
    const { days } = this.#records
    const known: StoredDays =
      days?.target === this.#storeName() ? knownDays(days.files, blocks) : new Map()
    const pinned =
      databaseUrl === undefined ? await pinDataFolder(dataDir, known) : pinJournals(dataDir)
    const stored = await storePinned(pinned, {
      blocks,
      known,
      target: this.#parts.target,
      workFolder,
    })
    const files = [...(await this.#storeSmallFiles(blocks)), ...stored.files]
    const needed = new Set(files.flatMap((file) => file.blocks))
    const content: BackupContent = {
      engine: databaseUrl === undefined ? 'sqlite' : 'postgres',
      secretKey: request.secretKey === undefined ? 'included' : 'external',
      files,
      totals: stored.totals,
    }
    const head: BackupHead = {
      format: MANIFEST_FORMAT,
      terse: VERSION,
      name: formatBackupName(pinned.consistentAt, randomBytes(4).toString('hex')),
      consistentAt: pinned.consistentAt.toISOString(),
      startedAt: startedAt.toISOString(),
      endedAt: new Date().toISOString(),
      blocks: [...needed],
      storedBytes: blocks.storedBytes(needed),
    }
    return { head, content, days: stored.days }
  }

  /** The secret key, unless it comes from elsewhere, and the settings. */
  async #storeSmallFiles(blocks: BlockStore): Promise<readonly BackupFile[]> {
    const { dataDir, secretKey } = this.#parts.request
    const names = [...(secretKey === undefined ? ['secret.key'] : []), 'terse.env']
    const files: BackupFile[] = []
    for (const name of names) {
      const file = path.join(dataDir, name)
      if (existsSync(file)) files.push(await blocks.storeWhole(name, file, statSync(file).size))
    }
    return files
  }

  async #prune(blocks: BlockStore): Promise<readonly string[]> {
    const { retention } = this.#parts.request
    const { verified } = this.#records
    const kept = new Set(verified?.target === this.#parts.target.label ? [verified.name] : [])
    return pruneBackups({ catalog: this.#catalog, blocks, retention, kept })
  }

  #record(change: Partial<BackupRecords>): void {
    this.#records = { ...this.#records, ...change }
    writeBackupRecords(this.#parts.request.dataDir, this.#records)
  }

  /** Blocks for other recipients have other names, so that none is used that the present ones cannot read. */
  #nameKey(): Buffer | undefined {
    const { request, cipher, key } = this.#parts
    if (!cipher.isEncrypting) return undefined
    const recipients = request.recipients.toSorted().join()
    return createHmac('sha256', deriveKey(key, 'backup-blocks')).update(recipients).digest()
  }

  /** Names the blocks that a backup can reuse. */
  #storeName(): string {
    const { request, target } = this.#parts
    return [target.label, ...request.recipients.toSorted()].join(' ')
  }
}

/** On the disk of the data folder, a backup leaves the service the room that it needs to go on. */
async function bytesToKeepFree({ dataDir, target }: BackupRequest): Promise<number> {
  if (target.includes('://')) return 0
  const place = nearestExisting(path.resolve(target))
  if (statSync(place).dev !== statSync(dataDir).dev) return 0
  return (await readDiskSpace(dataDir)).reserveNeedsBytes
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder))
}
