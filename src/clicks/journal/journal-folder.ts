import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFolder } from '../../platform/disk/create-folder.ts'
import { isCode } from '../../platform/process/is-code.ts'

const CREATE_ATTEMPTS_MAX = 100
/** A folder that is not locked yet, and so is nobody's to adopt. */
const BEGINNING = '.beginning'
/** A folder that is being removed. */
const REMOVING = '.removing'
/** The file that releases before TRS3 lock. */
const LOCK = 'lock'
const FENCED_LOCK = 'owner'
/**
 * What stands in the file of older releases. To them it is no database, so they fail to lock it, take
 * the journal for one in use, and leave it alone: they would remove as damaged what they cannot read.
 */
const FENCE = 'This journal is for releases that lock the file "owner".\n'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A journal that this process alone reads and writes, until it lets go or ends. */
export type JournalFolder = {
  readonly id: string
  readonly folder: string
  /** Harmless when it has been let go or removed before. */
  release(): void
  /** Removes an emptied journal. */
  remove(): void
}

/** Where a data folder keeps its nodes' journals, each in a folder of its own. */
export function journalsRoot(dataDir: string): string {
  return path.join(dataDir, 'journal')
}

/** Where segments with damage in them are kept for a person to look at. */
export function damagedJournalsFolder(dataDir: string): string {
  return path.join(dataDir, 'damaged-journals')
}

export function listJournals(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => !name.endsWith(BEGINNING) && !name.endsWith(REMOVING))
      .sort()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Removes what killed processes were about to begin or to remove. */
export function removeLeftovers(root: string): void {
  if (!existsSync(root)) return
  for (const name of readdirSync(root)) {
    const folder = path.join(root, name)
    if (name.endsWith(REMOVING)) rmSync(folder, { recursive: true, force: true })
    // One that a living process is about to begin is locked, or is begun once more.
    else if (name.endsWith(BEGINNING)) lockJournal(root, name)?.remove()
  }
}

/**
 * Journals that no living process owns; now this one does.
 *
 * @param options.countMax how many at most, each of which takes an open file; all when left out
 * @param options.isWanted which ones; any when left out
 */
export function adoptJournals(
  root: string,
  options: { countMax?: number; isWanted?: (id: string) => boolean } = {},
): JournalFolder[] {
  const { countMax = Number.POSITIVE_INFINITY, isWanted = () => true } = options
  const adopted: JournalFolder[] = []
  for (const id of listJournals(root)) {
    if (adopted.length >= countMax) break
    if (!isWanted(id)) continue
    const journal = lockJournal(root, id)
    if (journal !== undefined) adopted.push(journal)
  }
  return adopted
}

/**
 * Begins a journal.
 *
 * @throws where the disk does not take its folder
 */
export function createJournal(root: string, id: string = randomUUID()): JournalFolder {
  const folder = path.join(root, id)
  for (let attempt = 1; attempt <= CREATE_ATTEMPTS_MAX; attempt += 1) {
    // A process that starts may take it for a leftover: then the next one has another name.
    const beginning = `${folder}.${attempt}${BEGINNING}`
    createFolder(beginning)
    const lock = fenceOff(beginning) ? takeLock(beginning) : undefined
    if (lock === undefined) continue
    try {
      renameSync(beginning, folder)
    } catch (error) {
      lock.close()
      throw error
    }
    return locked(id, folder, lock)
  }
  throw new Error(`no journal can be made and locked in ${root}`)
}

/** Whether a journal could have this name. */
export function isJournalId(name: string): boolean {
  return UUID.test(name)
}

/** Takes a journal, as long as no process has it: then undefined. */
export function lockJournal(root: string, id: string): JournalFolder | undefined {
  const folder = path.join(root, id)
  const lock = takeLock(folder)
  return lock && locked(id, folder, lock)
}

function locked(id: string, folder: string, lock: DatabaseSync): JournalFolder {
  return {
    id,
    folder,
    release() {
      if (lock.isOpen) lock.close()
    },
    remove() {
      const aside = folder + REMOVING
      renameSync(folder, aside)
      lock.close()
      rmSync(aside, { recursive: true, force: true })
    },
  }
}

/**
 * Takes a folder's lock, which the operating system frees when the process ends, however it ends.
 * Node has no file locks of its own; SQLite's are exactly that. Undefined where a process has it.
 */
function takeLock(folder: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined
  try {
    const file = lockFile(folder)
    lock = new DatabaseSync(file, { timeout: 0 })
    // It holds nothing, so a file to roll it back would only be in the way of a folder's new name.
    lock.exec('pragma journal_mode = memory; begin exclusive')
    // Its last owner may have removed it between the two calls: then this is a lock on nothing.
    if (!existsSync(file)) throw new Error('the journal was removed')
    return lock
  } catch {
    lock?.close()
    return undefined
  }
}

/** False where a process that starts has just taken the folder for a leftover. */
function fenceOff(folder: string): boolean {
  try {
    writeFileSync(path.join(folder, LOCK), FENCE, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) return false
    throw error
  }
}

/** The empty file that is locked: another one where there is a fence. */
function lockFile(folder: string): string {
  const lock = path.join(folder, LOCK)
  const isFenced = (statSync(lock, { throwIfNoEntry: false })?.size ?? 0) > 0
  return isFenced ? path.join(folder, FENCED_LOCK) : lock
}
