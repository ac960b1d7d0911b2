import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileIdentity } from '../../platform/disk/file.ts'
import { createFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { isBusy } from '../../storage/sqlite/errors.ts'

const CREATE_ATTEMPTS_MAX = 100
/** Suffix of a folder that is not locked yet and must not be taken over. */
const CREATING = '.beginning'
/** Suffix of a folder that is being removed. */
const REMOVING = '.removing'
/** The file that releases before TRS3 lock. Newer ones lock `FENCED_LOCK` if this one holds the fence. */
const LOCK = 'lock'
const FENCED_LOCK = 'owner'
/**
 * The contents of the lock file of older releases. It is not a database, so they fail to lock it, treat the
 * journal as in use and do not touch it. Without the fence they would discard frames that they cannot read.
 */
const FENCE = 'This journal is for releases that lock the file "owner".\n'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A journal that is locked by this process until it is released or the process ends. */
export type JournalFolder = {
  readonly id: string
  readonly folder: string
  /** Whether the locked folder is still at its path; false if it was removed, moved or replaced. */
  isInPlace(): boolean
  /** Has no effect after the journal was released or removed. */
  release(): void
  /** Removes the journal, which must be ingested completely. */
  remove(): void
}

/** The folder with the journals of a data folder, one subfolder each. */
export function journalsRoot(dataDir: string): string {
  return path.join(dataDir, 'journal')
}

/** The folder where copies of damaged segments are kept for inspection. */
export function damagedJournalsFolder(dataDir: string): string {
  return path.join(dataDir, 'damaged-journals')
}

export function listJournals(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => !name.endsWith(CREATING) && !name.endsWith(REMOVING))
      .sort()
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Removes journals that crashed processes were creating or removing. */
export function removeLeftovers(root: string): void {
  if (!existsSync(root)) return
  for (const name of readdirSync(root)) {
    const folder = path.join(root, name)
    if (name.endsWith(REMOVING)) rmSync(folder, { recursive: true, force: true })
    // If a running process is creating this one, it is locked, or that process creates another one.
    else if (name.endsWith(CREATING)) lockJournal(root, name)?.remove()
  }
}

/**
 * Locks journals that no running process owns.
 *
 * @param options.countMax how many at most; each takes an open file. No limit by default.
 * @param options.isWanted selects journals; all by default
 */
export function takeOverJournals(
  root: string,
  options: { countMax?: number; isWanted?: (id: string) => boolean } = {},
): JournalFolder[] {
  const { countMax = Number.POSITIVE_INFINITY, isWanted = () => true } = options
  const journals: JournalFolder[] = []
  for (const id of listJournals(root)) {
    if (journals.length >= countMax) break
    if (!isWanted(id)) continue
    const journal = lockJournal(root, id)
    if (journal !== undefined) journals.push(journal)
  }
  return journals
}

/**
 * Creates and locks a journal.
 *
 * @throws if its folder cannot be created; then nothing is left of it
 */
export function createJournal(root: string, id: string = randomUUID()): JournalFolder {
  const folder = path.join(root, id)
  for (let attempt = 1; attempt <= CREATE_ATTEMPTS_MAX; attempt += 1) {
    // A starting process may remove it as a leftover: then the next attempt uses another name.
    const creating = `${folder}.${attempt}${CREATING}`
    const lock = createLocked(creating)
    if (lock === undefined) continue
    try {
      renameSync(creating, folder)
    } catch (error) {
      lock.close()
      removeQuietly(creating)
      throw error
    }
    return locked(id, folder, lock)
  }
  throw new Error(`cannot create and lock a journal in ${root}`)
}

/** Creates and locks a folder. Undefined, and nothing is left of it, if another process removes it as a leftover. */
function createLocked(creating: string): DatabaseSync | undefined {
  createFolder(creating)
  try {
    if (writeFence(creating)) return openLock(creating)
  } catch (error) {
    const isBeingRemoved = !existsSync(creating) || isBusy(error)
    removeQuietly(creating)
    if (!isBeingRemoved) throw error
  }
  removeQuietly(creating)
  return undefined
}

/** On a disk that refuses this too, what is left is in the way of nothing, and removed at a later start. */
function removeQuietly(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // As above.
  }
}

/** Whether the name is a valid journal id. */
export function isJournalId(name: string): boolean {
  return UUID.test(name)
}

/** Locks a journal. Undefined if another process has locked it. */
export function lockJournal(root: string, id: string): JournalFolder | undefined {
  const folder = path.join(root, id)
  const lock = takeLock(folder)
  return lock && locked(id, folder, lock)
}

function locked(id: string, folder: string, lock: DatabaseSync): JournalFolder {
  const identity = fileIdentity(lockFile(folder))
  return {
    id,
    folder,
    isInPlace: () => fileIdentity(lockFile(folder)) === identity,
    release() {
      if (lock.isOpen) lock.close()
    },
    remove() {
      const removing = folder + REMOVING
      try {
        renameSync(folder, removing)
        rmSync(removing, { recursive: true, force: true })
      } catch (error) {
        // The process that was creating it has given it up, and removed it itself.
        if (!hasErrorCode(error, 'ENOENT')) throw error
      } finally {
        lock.close()
      }
    },
  }
}

/** Locks a folder. Undefined if another process has locked or removed it, or it cannot be locked. */
function takeLock(folder: string): DatabaseSync | undefined {
  try {
    return openLock(folder)
  } catch {
    return undefined
  }
}

/**
 * Locks a folder. The operating system releases the lock when the process ends, even after a crash. Node has
 * no file locks, so it uses an SQLite lock.
 */
function openLock(folder: string): DatabaseSync {
  const file = lockFile(folder)
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    // The database is empty and needs no rollback journal, whose file would obstruct renaming the folder.
    lock.exec('pragma journal_mode = memory; begin exclusive')
    // The previous owner may have removed the file between the two calls: then the lock protects nothing.
    if (!existsSync(file)) throw new Error('the journal was removed')
    return lock
  } catch (error) {
    lock.close()
    throw error
  }
}

/** Writes the fence into a journal's folder. False if it has one, or if a starting process has just removed the folder as a leftover. */
export function writeFence(folder: string): boolean {
  try {
    writeFileSync(path.join(folder, LOCK), FENCE, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST') || hasErrorCode(error, 'ENOENT')) return false
    throw error
  }
}

/** Returns the file to lock, which depends on whether the folder has a fence. */
function lockFile(folder: string): string {
  const lock = path.join(folder, LOCK)
  const isFenced = (statSync(lock, { throwIfNoEntry: false })?.size ?? 0) > 0
  return isFenced ? path.join(folder, FENCED_LOCK) : lock
}

/** A segment larger than this is closed, and removed once its clicks are ingested. */
export const SEGMENT_BYTES_MAX = 16 * 1024 * 1024

const SEGMENT = /^(\d{10})\.journal$/

/** Returns the numbers of a journal's segment files, ascending; empty if the journal does not exist. */
export function listSegments(folder: string): number[] {
  const numbers: number[] = []
  for (const name of namesIn(folder)) {
    const match = SEGMENT.exec(name)
    if (match !== null) numbers.push(Number(match[1]))
  }
  return numbers.sort((a, b) => a - b)
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

export function segmentFile(folder: string, segment: number): string {
  return path.join(folder, `${String(segment).padStart(10, '0')}.journal`)
}
