import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { readDiskSpace } from '../platform/disk/disk-space.ts'
import { createFolder } from '../platform/disk/folder.ts'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import { type BlockSource, listUnusableBlocks, readBlocks } from './block-store.ts'
import { BackupCatalog, contentOf } from './catalog.ts'
import { formatBytes } from './commands/format-bytes.ts'
import { openCipher } from './encryption.ts'
import { type BackupContent, DamagedBackup } from './manifest.ts'
import { isNoRoom, readIdentities, readSigner } from './place.ts'
import { NoRoom } from './targets/backup-target.ts'
import { openTarget } from './targets/open-target.ts'
import type { S3Access } from './targets/s3-target.ts'
import { restoringFolder } from './unfinished-restore.ts'
import {
  checkRestored,
  LINK_NUMBERS_SKIPPED,
  type OpenRestored,
  writeRestoredFiles,
} from './verify-backup.ts'

/** What an empty data folder may contain: settings, and the folder of a file system's repair. */
const ALLOWED = new Set(['terse.env', 'lost+found'])
const SETTINGS = 'terse.env'
const LOCKS = 'locks'

/** A setting in a backup; a secret without its value. */
type RestoredSetting = { readonly name: string; readonly value: string | undefined }

export type RestoreRequest = {
  readonly source: string
  /** A backup's name; undefined for the newest. */
  readonly name: string | undefined
  readonly dataDir: string
  /** Undefined with SQLite. */
  readonly databaseUrl: string | undefined
  readonly secretKey: Buffer | undefined
  readonly s3: S3Access | undefined
  /** The file of `age-keygen`, to read an encrypted backup. */
  readonly identityFile: string | undefined
  /** The file with the public key by which the backup must be signed; undefined to accept any backup. */
  readonly signedByFile: string | undefined
  /** Decides about the settings that the backup would bring into the data folder, before anything is written. */
  readonly acceptsSettings: (settings: readonly RestoredSetting[]) => Promise<boolean>
  /** Returns what the text of a settings file sets. */
  readonly describeSettings: (text: string) => readonly RestoredSetting[]
  readonly openRestored: OpenRestored
  /**
   * Skips numbers of links in PostgreSQL, which has been restored before.
   *
   * @param folder has the restored secret key
   */
  readonly skipNumbers: (folder: string, count: number) => Promise<void>
}

export type RestoreReport = {
  readonly name: string
  readonly consistentAt: string
  readonly engine: 'sqlite' | 'postgres'
  readonly links: number | undefined
  readonly clicks: number | undefined
  /** Clicks in the restored journals, which the service counts when it starts. */
  readonly pendingClicks: number
}

/** A backup in a list. */
export type BackupSummary = {
  readonly name: string
  readonly consistentAt: string
  /** The version of the program; null when the manifest is damaged. */
  readonly terse: string | null
  readonly storedBytes: number | null
  /** `damaged` when the manifest is, or a block is missing or was found damaged. */
  readonly state: 'complete' | 'damaged'
  /** Whether the demanded key has signed it; null when none was demanded. */
  readonly isSigned: boolean | null
}

/**
 * Restores a backup into an empty data folder. Everything is written and checked in a subfolder and moved at
 * the end. While that subfolder exists, the data folder is refused; a restore that was killed is run again.
 *
 * @returns undefined when the settings in the backup were not accepted; nothing was changed
 * @throws when the folder is not empty or its disk full, the backup is of the other engine, cannot be read, is
 *   damaged, or not signed as demanded
 */
export async function restoreBackup(request: RestoreRequest): Promise<RestoreReport | undefined> {
  const { dataDir, source, identityFile } = request
  const signer = readSigner(request.signedByFile)
  const folder = restoringFolder(dataDir)
  const target = await openSource(source, request.s3)
  const catalog = new BackupCatalog(target)
  const name = request.name ?? readComplete(folder)?.name ?? (await catalog.names()).at(-1)
  if (name === undefined) throw new Error(`There is no complete backup in ${target.label}.`)
  try {
    const manifest = await catalog.read(name, signer)
    const cipher = openCipher({ recipients: [], identities: readIdentities(identityFile) })
    const content = await contentOf(manifest, cipher.decrypt)
    const decrypt = 'encrypted' in manifest ? cipher.decrypt : undefined
    const blocks = { target, decrypt }
    checkConfig(content, request)
    const fingerprint = fingerprintOf(content)
    const isComplete = readComplete(folder)?.fingerprint === fingerprint
    if (!isComplete) checkEmpty(dataDir)
    const settings = await settingsToWrite(request, content, blocks)
    if (settings.length > 0 && !(await request.acceptsSettings(settings))) return undefined
    const complete = JSON.stringify({ name, fingerprint })
    if (!isComplete) await restoreFiles(request, { content, source: blocks, complete })
    moveInto(dataDir, folder)
    return reportOf(name, manifest.consistentAt, content)
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error
    // What is wrong with this one matters more than that the others cannot be listed.
    const others = await listBackups(source, request).catch(() => [])
    throw new Error(damageText(name, error.message, others), { cause: error })
  }
}

/** Writes and checks everything in the subfolder, and then marks it as complete. */
async function restoreFiles(
  request: RestoreRequest,
  { content, source, complete }: { content: BackupContent; source: BlockSource; complete: string },
): Promise<void> {
  const { dataDir, secretKey: key, openRestored } = request
  const folder = restoringFolder(dataDir)
  const bytes = content.files.reduce((sum, { size }) => sum + size, 0)
  try {
    rmSync(folder, { recursive: true, force: true })
    createFolder(folder)
    syncFolder(dataDir)
    const data = path.join(folder, 'data')
    if ((await readDiskSpace(folder)).freeBytes < bytes) throw new NoRoom(folder)
    await writeRestoredFiles(source, content, data)
    await checkRestored(data, content, { key, openRestored })
    if (content.engine === 'postgres') await request.skipNumbers(data, LINK_NUMBERS_SKIPPED)
    writeFileSync(completeFile(folder), complete, { mode: 0o600, flush: true })
  } catch (error) {
    if (!isNoRoom(error)) throw error
    throw new Error(
      `The disk of ${dataDir} has no room for the backup, whose files have ${formatBytes(bytes)}. Make room, and run the same command again.`,
      { cause: error },
    )
  }
}

/** Returns the settings in a backup, unless the data folder has its own, which are kept. */
async function settingsToWrite(
  { dataDir, describeSettings }: RestoreRequest,
  content: BackupContent,
  source: BlockSource,
): Promise<readonly RestoredSetting[]> {
  const file = content.files.find((each) => each.path === SETTINGS)
  if (file === undefined || existsSync(path.join(dataDir, SETTINGS))) return []
  const blocks: Uint8Array[] = []
  for await (const block of readBlocks(source, file)) blocks.push(block)
  return describeSettings(Buffer.concat(blocks).toString('utf8'))
}

function reportOf(
  name: string,
  consistentAt: string,
  { engine, totals: { database, pending } }: BackupContent,
): RestoreReport {
  return {
    name,
    consistentAt,
    engine,
    links: database?.links,
    clicks: database?.clicks,
    pendingClicks: Object.values(pending).reduce((sum, clicks) => sum + clicks, 0),
  }
}

/** Explains why a backup cannot be restored, and which other one can. */
function damageText(name: string, reason: string, backups: readonly BackupSummary[]): string {
  const others = backups.filter(
    (other) => other.name !== name && other.state === 'complete' && other.isSigned !== false,
  )
  const other = others.at(-1)
  const advice =
    other === undefined
      ? 'No other one was found in this place that looks complete.'
      : `Restore another one: the newest that looks complete is of ${other.consistentAt} (--at ${other.name}).`
  return `The backup ${name} cannot be restored: ${reason}. ${advice}`
}

/** Returns all complete backups, the oldest first. */
export async function listBackups(
  source: string,
  { s3, signedByFile }: Pick<RestoreRequest, 's3' | 'signedByFile'>,
): Promise<readonly BackupSummary[]> {
  const target = await openSource(source, s3)
  const backups = await new BackupCatalog(target).list(readSigner(signedByFile))
  const unusable = await listUnusableBlocks(
    target,
    backups.flatMap(({ blocks }) => blocks),
  )
  return backups.map(({ name, at, head, blocks, isSigned }) => ({
    name,
    consistentAt: head?.consistentAt ?? at.toISOString(),
    terse: head?.terse ?? null,
    storedBytes: head?.storedBytes ?? null,
    state:
      head === undefined || blocks.some((block) => unusable.has(block)) ? 'damaged' : 'complete',
    isSigned: isSigned ?? null,
  }))
}

/** @throws when the folder of the backups is missing, rather than find none in it */
async function openSource(source: string, s3: S3Access | undefined) {
  const target = await openTarget(source, s3)
  if (target.workFolder === undefined || existsSync(target.label)) return target
  throw new Error(
    `There is no folder ${target.label}. Check its name, and that its disk is mounted.`,
  )
}

function checkConfig(
  { engine, secretKey: place }: BackupContent,
  { databaseUrl, secretKey }: RestoreRequest,
): void {
  if (place === 'external' && secretKey === undefined) {
    throw new Error(
      'This backup does not contain the secret key, because TERSE_SECRET_KEY was set when it was made. Set it to the same key.',
    )
  }
  if (engine === 'postgres' && databaseUrl === undefined) {
    throw new Error(
      'This is the backup of a node with PostgreSQL. Restore the database first (pg_restore), then set TERSE_DATABASE_URL to it.',
    )
  }
  if (engine === 'sqlite' && databaseUrl !== undefined) {
    throw new Error(
      'This backup holds a whole instance with SQLite, but TERSE_DATABASE_URL is set. Remove that setting.',
    )
  }
}

function checkEmpty(dataDir: string): void {
  if (!existsSync(dataDir)) return
  const folder = path.basename(restoringFolder(dataDir))
  const others = readdirSync(dataDir).filter((name) => !ALLOWED.has(name) && name !== folder)
  if (others.length === 0) return
  throw new Error(
    `A backup is restored into an empty data folder alone, and ${dataDir} has ${others.slice(0, 3).join(', ')}${others.length > 3 ? ' and more' : ''}. Move it away: the clicks in its journals can be added afterwards.`,
  )
}

/** Returns which backup is written and checked, and is to be moved; undefined for none. */
function readComplete(folder: string): { name: string; fingerprint: string } | undefined {
  try {
    return JSON.parse(readFileSync(completeFile(folder), 'utf8'))
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Identifies what was restored: another backup may have got the same name since, or be unsigned. */
function fingerprintOf(content: BackupContent): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

function completeFile(folder: string): string {
  return path.join(folder, 'complete')
}

/** Moves the restored files. A killed process continues where it ended. */
function moveInto(dataDir: string, folder: string): void {
  const data = path.join(folder, 'data')
  for (const name of existsSync(data) ? readdirSync(data) : []) {
    const to = path.join(dataDir, name)
    // Existing settings are this machine's own.
    if (name === LOCKS || (name === SETTINGS && existsSync(to))) continue
    renameSync(path.join(data, name), to)
  }
  syncFolder(dataDir)
  // Last, because it marks the folder as incomplete; in one step, so that it is not left without its mark.
  const removing = `${folder}-done`
  renameSync(folder, removing)
  syncFolder(dataDir)
  rmSync(removing, { recursive: true, force: true })
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
