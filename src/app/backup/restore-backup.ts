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
import {
  BackupCatalog,
  contentOf,
  openCipher,
  openTarget,
  type S3Access,
} from '../../backup/index.ts'
import { createFolder } from '../../platform/disk/create-folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { checkRestored, LINK_NUMBERS_SKIPPED } from './check-restored.ts'
import { restoringFolder } from './unfinished-restore.ts'
import { writeRestoredFiles } from './write-restored-files.ts'

/** What an empty data folder may contain: settings, and the folder of a file system's repair. */
const ALLOWED = new Set(['terse.env', 'lost+found'])
const SETTINGS = 'terse.env'
const LOCKS = 'locks'

export type RestoreRequest = {
  readonly source: string
  /** A backup's name; undefined for the newest. */
  readonly name: string | undefined
  readonly dataDir: string
  /** Undefined with SQLite. */
  readonly databaseUrl: string | undefined
  readonly secretKey: Buffer | undefined
  readonly s3: S3Access | undefined
  readonly identities: readonly string[]
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

/**
 * Restores a backup into an empty data folder. Everything is written and checked in a subfolder and moved at
 * the end. While that subfolder exists, the data folder is refused; a restore that was killed is run again.
 *
 * @throws when the folder is not empty, the backup is of the other engine, cannot be read, or is damaged
 */
export async function restoreBackup(request: RestoreRequest): Promise<RestoreReport> {
  const { dataDir, source, identities } = request
  const folder = restoringFolder(dataDir)
  const target = await openTarget(source, request.s3)
  const catalog = new BackupCatalog(target)
  const name = request.name ?? readComplete(folder) ?? (await catalog.names()).at(-1)
  if (name === undefined) throw new Error(`There is no complete backup in ${target.label}.`)
  const manifest = await catalog.read(name)
  const cipher = openCipher({ recipients: [], identities })
  const content = await contentOf(manifest, cipher.decrypt)
  checkEngine(content.engine, request.databaseUrl)
  if (content.secretKey === 'external' && request.secretKey === undefined) {
    throw new Error(
      'This backup does not contain the secret key, because TERSE_SECRET_KEY was set when it was made. Set it to the same key.',
    )
  }
  if (readComplete(folder) !== name) {
    checkEmpty(dataDir)
    rmSync(folder, { recursive: true, force: true })
    createFolder(folder)
    syncFolder(dataDir)
    const data = path.join(folder, 'data')
    const isEncrypted = 'encrypted' in manifest
    await writeRestoredFiles({ target, cipher, isEncrypted }, content, data)
    await checkRestored(data, content, request.secretKey)
    if (content.engine === 'postgres') await request.skipNumbers(data, LINK_NUMBERS_SKIPPED)
    writeFileSync(completeFile(folder), name, { mode: 0o600, flush: true })
  }
  moveInto(dataDir, folder)
  const { database, pending } = content.totals
  return {
    name,
    consistentAt: manifest.consistentAt,
    engine: content.engine,
    links: database?.links,
    clicks: database?.clicks,
    pendingClicks: Object.values(pending).reduce((sum, clicks) => sum + clicks, 0),
  }
}

/** Returns the names and heads of all complete backups, the oldest first. */
export async function listBackups(
  source: string,
  s3: S3Access | undefined,
): Promise<readonly { name: string; consistentAt: string; terse: string; storedBytes: number }[]> {
  const catalog = new BackupCatalog(await openTarget(source, s3))
  const heads = []
  for (const name of await catalog.names()) heads.push(await catalog.read(name))
  return heads.map(({ name, consistentAt, terse, storedBytes }) => ({
    name,
    consistentAt,
    terse,
    storedBytes,
  }))
}

function checkEngine(engine: 'sqlite' | 'postgres', databaseUrl: string | undefined): void {
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

/** The name of the backup that is written and checked, and is to be moved; undefined for none. */
function readComplete(folder: string): string | undefined {
  try {
    return readFileSync(completeFile(folder), 'utf8')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function completeFile(folder: string): string {
  return path.join(folder, 'complete')
}

/** Moves the restored files. A killed process continues where it ended. */
function moveInto(dataDir: string, folder: string): void {
  const data = path.join(folder, 'data')
  for (const name of existsSync(data) ? readdirSync(data) : []) {
    const to = path.join(dataDir, name)
    // Settings that are there already are those of this machine.
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
