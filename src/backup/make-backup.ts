import { createHmac, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { lockName } from '../data-files/index.ts'
import { readDiskSpace } from '../platform/disk/disk-space.ts'
import { createFolder } from '../platform/disk/folder.ts'
import { terseCommand } from '../platform/process/terse-command.ts'
import { VERSION } from '../platform/process/version.ts'
import { deriveKey, loadSecretKey } from '../storage/instance-keys.ts'
import { NoInstance } from '../storage/store.ts'
import { type BlockOfFile, BlockStore, findDamagedBlocks } from './block-store.ts'
import { BackupCatalog } from './catalog.ts'
import type { BackupCipher } from './encryption.ts'
import {
  type BackupContent,
  type BackupFile,
  type BackupHead,
  DamagedBackup,
  formatBackupName,
  MANIFEST_FORMAT,
} from './manifest.ts'
import { pinDataFolder, pinJournals } from './pin.ts'
import {
  type BackupSettings,
  foreignFault,
  goneFault,
  isNoRoom,
  nearestExisting,
  openBackupKeys,
  refuseOwnFolder,
} from './place.ts'
import {
  type BackupRecords,
  type MadeBackup,
  readBackupRecords,
  recordsOfPlace,
  withPlace,
  writeBackupRecords,
} from './records.ts'
import type { Retention } from './retention.ts'
import { publicKeyOf, type Signer } from './signature.ts'
import { knownDays, pruneBackups, type StoredDays, storePinned } from './store-pinned.ts'
import { type BackupTarget, NoRoom } from './targets/backup-target.ts'
import { openTarget } from './targets/open-target.ts'
import type { S3Access } from './targets/s3-target.ts'
import { type OpenRestored, verifyBackup } from './verify-backup.ts'

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
  /** The file of `age-keygen`, to verify an encrypted backup. */
  readonly identityFile: string | undefined
  /** The file with the private key that signs the backup; undefined to not sign it. */
  readonly signingKeyFile: string | undefined
  /** Undefined to keep all backups. */
  readonly retention: Retention | undefined
  /** Whether to restore the backup into a temporary folder and compare it. */
  readonly verifies: boolean
  /** Whether to use a target that has the backups of another data folder. */
  readonly takesOver: boolean
}

/** Returns the request for a backup as configured, to a target. */
export function backupRequest(config: BackupSettings, target: string): BackupRequest {
  const { dataDir, databaseUrl, secretKey, s3, backup } = config
  const { recipients, retention, verifies, identityFile, signingKeyFile } = backup
  return {
    dataDir,
    databaseUrl,
    secretKey,
    s3,
    target,
    recipients,
    identityFile,
    signingKeyFile,
    retention,
    verifies,
    takesOver: false,
  }
}

export type BackupReport = {
  readonly name: string
  readonly consistentAtMs: number
  readonly files: number
  /** What the backup consists of, as stored; and how much of that was new. */
  readonly storedBytes: number
  readonly writtenBytes: number
  readonly isVerified: boolean
  /** Blocks that were damaged in the target, and that the backup has written again. */
  readonly repaired: readonly BlockOfFile[]
  /** Backups that were removed because they are no longer needed. */
  readonly removed: readonly string[]
}

/**
 * Makes a backup of a data folder, whether or not a service uses it. What is damaged in the target
 * is written again: always if its size is wrong, and if its content is when the backup is verified.
 *
 * @throws when another backup of the folder is being made, the target cannot be used or has no room, or the
 *   backup could not be verified. Earlier backups are unchanged.
 */
export async function makeBackup(
  request: BackupRequest,
  openRestored: OpenRestored,
): Promise<BackupReport> {
  const { dataDir } = request
  const key = request.secretKey ?? loadSecretKey(dataDir)
  if (key === undefined) throw new NoInstance()
  refuseOwnFolder(dataDir, request.target)
  const { cipher, signingKey } = await openBackupKeys(request)
  const lock = lockName(dataDir, 'backup')
  if (lock === undefined) throw new Error(`Another backup of ${dataDir} is being made.`)
  try {
    const target = await openTarget(request.target, request.s3, {
      keepFreeBytes: await bytesToKeepFree(request),
    })
    const workFolder = target.workFolder ?? path.join(dataDir, 'backup-work')
    const run = new BackupRun({
      request,
      openRestored,
      target,
      cipher,
      signingKey,
      key,
      workFolder,
    })
    // Before anything there is touched: another data folder may be making a backup.
    await run.claimTarget()
    // A killed backup leaves it.
    rmSync(workFolder, { recursive: true, force: true })
    try {
      return await run.make()
    } finally {
      rmSync(workFolder, { recursive: true, force: true })
    }
  } finally {
    lock.close()
  }
}

type RunParts = {
  readonly request: BackupRequest
  readonly openRestored: OpenRestored
  readonly target: BackupTarget
  readonly cipher: BackupCipher
  readonly signingKey: KeyObject | undefined
  readonly key: Buffer
  readonly workFolder: string
}

type Made = { readonly head: BackupHead; readonly content: BackupContent }

class BackupRun {
  readonly #parts: RunParts
  readonly #catalog: BackupCatalog
  #records: BackupRecords

  constructor(parts: RunParts) {
    this.#parts = parts
    this.#catalog = new BackupCatalog(parts.target)
    this.#records = readBackupRecords(parts.request.dataDir)
  }

  async make(): Promise<BackupReport> {
    const { request, target, cipher } = this.#parts
    const blocks = await BlockStore.open({ target, cipher, nameKey: this.#nameKey() })
    const first = await this.#complete(blocks)
    const { head, content } = request.verifies ? await this.#verified(blocks, first) : first
    const removed = await this.#prune(blocks)
    return {
      name: head.name,
      consistentAtMs: Date.parse(head.consistentAt),
      files: content.files.length,
      storedBytes: head.storedBytes,
      writtenBytes: blocks.writtenBytes,
      isVerified: request.verifies,
      repaired: blocks.repaired,
      removed,
    }
  }

  /** @param options.readsAll whether to read days too that the target is recorded to have */
  async #complete(blocks: BlockStore, { readsAll = false } = {}): Promise<Made> {
    const { target } = this.#parts
    const { head, content, days } = await this.#store(blocks, readsAll)
    await target.sync()
    await this.#refuseLostTarget()
    await this.#catalog.add(head, content, this.#parts)
    await target.sync()
    const recordedDays = { target: this.#storeName(), files: Object.fromEntries(days) }
    const { label } = target
    const verified = recordsOfPlace(this.#records, label)?.verified
    const ofPlace = { last: recordOf(head), ...(verified && { verified }) }
    this.#record({ ...withPlace(this.#records, label, ofPlace), days: recordedDays })
    return { head, content }
  }

  /**
   * Returns the verified backup. When it is damaged, makes another one, for which the damaged blocks are written
   * again and nothing is believed of the target that was recorded earlier.
   *
   * @throws when that one is damaged too
   */
  async #verified(blocks: BlockStore, first: Made): Promise<Made> {
    if ((await this.#verify(blocks, first)) === undefined) return first
    const second = await this.#complete(blocks, { readsAll: true })
    const damage = await this.#verify(blocks, second)
    if (damage !== undefined) {
      const { label } = this.#parts.target
      const check = damage.blocks.length > 0 ? label : `the data folder: ${terseCommand('doctor')}`
      throw new Error(
        `The backup ${second.head.name} in ${label} could not be verified, nor the one before it: ${damage.message}. Check ${check}.`,
        { cause: damage },
      )
    }
    await this.#catalog.remove(first.head.name)
    return second
  }

  /** Verifies a backup, and marks its damaged blocks. Returns the damage, if there is any. */
  async #verify(blocks: BlockStore, { head, content }: Made): Promise<DamagedBackup | undefined> {
    const { target, cipher } = this.#parts
    try {
      await verifyBackup(head.name, { ...this.#parts, signer: this.#signer() })
    } catch (error) {
      if (!(error instanceof DamagedBackup)) throw error
      const decrypt = cipher.isEncrypting ? cipher.decrypt : undefined
      const source = { target, decrypt, nameKey: this.#nameKey() }
      const damaged = await findDamagedBlocks(source, content.files)
      await blocks.markDamaged(damaged.map(({ block }) => block))
      return error
    }
    const made = recordOf(head)
    this.#record(withPlace(this.#records, target.label, { last: made, verified: made }))
    return undefined
  }

  /**
   * Ensures that the target belongs to this data folder.
   *
   * @throws when it has the backups of another one, or has none although this one has made some there: its disk is
   *   probably not mounted
   */
  async claimTarget(): Promise<void> {
    const { request, target } = this.#parts
    const { dataFolder } = this.#records
    const owner = await this.#catalog.owner()
    if (owner === dataFolder) return
    const isGone = owner === undefined && recordsOfPlace(this.#records, target.label) !== undefined
    if ((owner !== undefined || isGone) && !request.takesOver) {
      const { text, advice } = isGone ? goneFault(request.target) : foreignFault(request.target)
      throw new Error(`${text}. ${advice}`)
    }
    // Recorded first: a target of which this folder does not know would have to be taken over.
    writeBackupRecords(request.dataDir, this.#records)
    await this.#catalog.setOwner(dataFolder)
  }

  /** Two data folders may have claimed a new target at once, or one has taken it over meanwhile. */
  async #refuseLostTarget(): Promise<void> {
    const { target } = this.#parts
    if ((await this.#catalog.owner()) === this.#records.dataFolder) return
    throw new Error(
      `Another data folder has begun to use ${target.label}. Name a target of its own.`,
    )
  }

  async #store(blocks: BlockStore, readsAll: boolean) {
    try {
      return await this.#storePinned(blocks, readsAll)
    } catch (error) {
      if (!isNoRoom(error)) throw error
      await pruneBackups({ catalog: this.#catalog, blocks, retention: undefined, kept: new Set() })
      throw error instanceof NoRoom ? error : new NoRoom(this.#parts.workFolder)
    }
  }

  async #storePinned(blocks: BlockStore, readsAll: boolean) {
    const startedAt = new Date()
    const { request, workFolder } = this.#parts
    const { dataDir, databaseUrl } = request
    createFolder(workFolder)
    const { days } = this.#records
    const isKnown = !readsAll && days?.target === this.#storeName()
    const known: StoredDays = isKnown ? knownDays(days.files, blocks) : new Map()
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
    await this.#refuseLostTarget()
    const { retention } = this.#parts.request
    const verified = recordsOfPlace(this.#records, this.#parts.target.label)?.verified
    const kept = new Set(verified && [verified.name])
    return pruneBackups({ catalog: this.#catalog, blocks, retention, kept })
  }

  #record(records: BackupRecords): void {
    this.#records = records
    writeBackupRecords(this.#parts.request.dataDir, records)
  }

  /** Blocks for other recipients have other names, so that none is used that the present ones cannot read. */
  #nameKey(): Buffer | undefined {
    const { request, cipher, key } = this.#parts
    if (!cipher.isEncrypting) return undefined
    const recipients = request.recipients.toSorted().join()
    return createHmac('sha256', deriveKey(key, 'backup-blocks')).update(recipients).digest()
  }

  /** Who must have signed what is verified: this backup itself. */
  #signer(): Signer | undefined {
    const { signingKey, request } = this.#parts
    return signingKey && { publicKey: publicKeyOf(signingKey), file: request.signingKeyFile ?? '' }
  }

  /** Names the blocks that a backup can reuse. */
  #storeName(): string {
    const { request, target } = this.#parts
    return [target.label, ...request.recipients.toSorted()].join(' ')
  }
}

function recordOf({ name, consistentAt }: BackupHead): MadeBackup {
  return { name, consistentAtMs: Date.parse(consistentAt) }
}

/** On the disk of the data folder, a backup leaves the service the room that it needs to go on. */
async function bytesToKeepFree({ dataDir, target }: BackupRequest): Promise<number> {
  if (target.includes('://')) return 0
  const place = nearestExisting(path.resolve(target))
  if (statSync(place).dev !== statSync(dataDir).dev) return 0
  return (await readDiskSpace(dataDir)).reserveNeedsBytes
}
