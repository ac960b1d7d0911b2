import type { KeyObject } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { readDiskSpace } from '../platform/disk/disk-space.ts'
import { createFolder } from '../platform/disk/folder.ts'
import { Failure } from '../platform/failure.ts'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import { terseCommand } from '../platform/process/terse-command.ts'
import { sqliteFolderFault, textOf } from '../storage/sqlite/errors.ts'
import { listMarkedBlocks } from './block-store.ts'
import { BackupCatalog } from './catalog.ts'
import { type BackupCipher, type Identities, openCipher, parseIdentities } from './encryption.ts'
import { type BackupRecords, recordsOfPlace, targetLabel } from './records.ts'
import type { Retention } from './retention.ts'
import { parsePublicKey, parseSigningKey, type Signer } from './signature.ts'
import { type BackupTarget, NoRoom } from './targets/backup-target.ts'
import { openTarget } from './targets/open-target.ts'
import type { S3Access } from './targets/s3-target.ts'

/** The backups that the service makes. */
export type BackupConfig = {
  /** A folder or a bucket; undefined for no backups. */
  readonly target: string | undefined
  readonly everyMs: number
  /** Undefined to keep all. */
  readonly retention: Retention | undefined
  readonly verifies: boolean
  readonly recipients: readonly string[]
  readonly identityFile: string | undefined
  readonly signingKeyFile: string | undefined
}

/** What a backup takes from the configuration. */
export type BackupSettings = {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly secretKey: Buffer | undefined
  readonly s3: S3Access | undefined
  readonly backup: BackupConfig
}

/**
 * Refuses a place in the data folder or around it: what destroys the data would destroy its backups. Folders are
 * compared by their identity, which symbolic links and mounts do not hide.
 *
 * @throws with what to do
 */
export function refuseOwnFolder(dataDir: string, target: string): void {
  if (target.includes('://')) return
  const place = path.resolve(target)
  const reason = liesIn(place, dataDir)
    ? `is in the data folder ${dataDir}`
    : `has the data folder ${dataDir} in it`
  if (!liesIn(place, dataDir) && !liesIn(dataDir, place)) return
  throw new Error(
    `Backups cannot be stored in ${place}, which ${reason}: what destroys the data would destroy them. Name a folder on another disk (in a container, of a second volume), or a bucket.`,
  )
}

function liesIn(inner: string, outer: string): boolean {
  const identity = identityOf(canonical(outer))
  for (let folder = canonical(inner); ; folder = path.dirname(folder)) {
    if (identityOf(folder) === identity) return true
    if (folder === path.dirname(folder)) return false
  }
}

/** Returns the path without symbolic links; a part that does not exist yet stays as it is. */
function canonical(folder: string): string {
  const parent = path.dirname(folder)
  if (existsSync(folder) || parent === folder) return realpathSync(folder)
  return path.join(canonical(parent), path.basename(folder))
}

function identityOf(folder: string): string {
  if (!existsSync(folder)) return folder
  const { dev, ino } = statSync(folder, { bigint: true })
  return `${dev}:${ino}`
}

/** The nearest folder that exists: a backup creates those that are missing. */
export function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder))
}

/** Below the time that the dashboard grants all checks. */
const TIMEOUT_MS = 5_000

/** What is wrong with a place, and what to do about it. */
export type PlaceFault = { readonly text: string; readonly advice: string }

/**
 * Returns why the next backup cannot be stored in a place, or undefined. Changes nothing there.
 *
 * @param options.stop ends requests to a bucket early
 */
export async function findPlaceFault(
  address: string,
  s3: S3Access | undefined,
  {
    records,
    stop,
  }: { readonly records: BackupRecords | undefined; readonly stop?: AbortSignal | undefined },
): Promise<PlaceFault | undefined> {
  const label = targetLabel(address)
  try {
    const target = await openTarget(address, s3, { stop: inTimeOr(stop) })
    const catalog = new BackupCatalog(target)
    const owner = await inTime(catalog.owner(), label)
    if (target.workFolder !== undefined) {
      accessSync(nearestExisting(label), constants.R_OK | constants.W_OK | constants.X_OK)
    }
    const last = records && recordsOfPlace(records, label)?.last
    if (owner === undefined) return last && goneFault(address)
    if (owner !== records?.dataFolder) return foreignFault(address)
    const names = await inTime(catalog.names(), label)
    if (last === undefined || names.includes(last.name)) return undefined
    return {
      text: `the last backup, ${last.name}, is no longer in ${label}`,
      advice: 'Check who removes backups there. In a bucket, no object may expire by its age.',
    }
  } catch (error) {
    return {
      text: `${label} cannot be used: ${textOf(error)}`,
      advice: 'Check that it can be reached, and that the user of the service can write there.',
    }
  }
}

/** Returns how many blocks in a place are marked as damaged; undefined when that cannot be found out in time. */
export async function countDamagedBlocks(
  address: string,
  s3: S3Access | undefined,
): Promise<number | undefined> {
  try {
    const target = await openTarget(address, s3, { stop: inTimeOr() })
    return (await inTime(listMarkedBlocks(target), target.label)).size
  } catch {
    // `findPlaceFault` reports it.
    return undefined
  }
}

/** What is wrong when the backups that a folder has made in a place are not there. */
export function goneFault(address: string): PlaceFault {
  return {
    text: `the backups in ${targetLabel(address)} are gone`,
    advice: `Check that its disk is mounted. If they were removed on purpose, begin again: ${terseCommand(`backup ${address} --take-over`)}`,
  }
}

/** What is wrong when a place has the backups of another data folder. */
export function foreignFault(address: string): PlaceFault {
  return {
    text: `${targetLabel(address)} has the backups of another data folder, or of this one before it was restored`,
    advice: `Name a place of its own, or take it over: ${terseCommand(`backup ${address} --take-over`)}`,
  }
}

/** Requests that go on would keep the process from ending. */
function inTimeOr(stop?: AbortSignal): AbortSignal {
  const late = AbortSignal.timeout(TIMEOUT_MS)
  return stop === undefined ? late : AbortSignal.any([late, stop])
}

/** A folder that is mounted from another machine may never answer. */
async function inTime<T>(work: Promise<T>, label: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`${label} did not answer in ${TIMEOUT_MS / 1_000} s`))
  }, TIMEOUT_MS)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

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

/**
 * Checks whether backups can be made as configured, as far as that does not depend on the place being available.
 *
 * @throws when they cannot, with what to do
 */
export async function checkBackups({
  dataDir,
  s3,
  backup,
}: Pick<BackupSettings, 'dataDir' | 's3' | 'backup'>): Promise<void> {
  if (backup.target === undefined) return
  refuseOwnFolder(dataDir, backup.target)
  await openTarget(backup.target, s3)
  await openBackupKeys(backup)
}

/**
 * Ensures that the disk of the working folder has room for a copy.
 *
 * @throws {NoRoom} when it has not, or a service that shares the disk would have too little left
 */
export async function ensureRoom({
  target,
  workFolder,
  bytes,
}: {
  readonly target: BackupTarget
  readonly workFolder: string
  readonly bytes: number
}): Promise<void> {
  if (target.workFolder !== undefined) return target.ensureRoom(bytes)
  createFolder(workFolder)
  const { freeBytes, reserveNeedsBytes } = await readDiskSpace(workFolder)
  if (freeBytes < bytes + reserveNeedsBytes) throw new NoRoom(workFolder)
}

/** Whether an error says that a disk is full. */
export function isNoRoom(error: unknown): boolean {
  if (error instanceof Failure) return isNoRoom(error.cause)
  return (
    error instanceof NoRoom ||
    sqliteFolderFault(error) === 'full' ||
    hasErrorCode(error, 'ENOSPC') ||
    hasErrorCode(error, 'EDQUOT')
  )
}
