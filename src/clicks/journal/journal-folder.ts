import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFolder } from '../../lib/create-folder.ts'
import { isCode } from '../../lib/is-code.ts'

const CREATE_ATTEMPTS_MAX = 10
/** A folder that is being removed. */
const REMOVING = '.removing'
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
      .filter((entry) => entry.isDirectory() && !entry.name.endsWith(REMOVING))
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Finishes the removals that a killed process had begun. */
export function finishRemovals(root: string): void {
  if (!existsSync(root)) return
  for (const name of readdirSync(root)) {
    if (name.endsWith(REMOVING)) rmSync(path.join(root, name), { recursive: true, force: true })
  }
}

/**
 * Journals that no living process owns; now this one does.
 *
 * @param options.countMax a lock takes a file handle and some 150 KiB of memory
 * @param options.isWanted all where it is left out
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

export function createJournal(root: string): JournalFolder {
  for (let attempt = 1; attempt <= CREATE_ATTEMPTS_MAX; attempt += 1) {
    const id = randomUUID()
    createFolder(path.join(root, id))
    const journal = lockJournal(root, id)
    // Another process that looks for journals may have been faster; then it is that one's.
    if (journal !== undefined) return journal
  }
  throw new Error(`no journal can be made and locked in ${root}`)
}

/** Whether a journal could have this name. */
export function isJournalId(name: string): boolean {
  return UUID.test(name)
}

/**
 * Takes the journal's lock, which the operating system frees when the process ends, however it ends.
 * Node has no file locks of its own; SQLite's are exactly that. Undefined where a process has it.
 */
export function lockJournal(root: string, id: string): JournalFolder | undefined {
  const folder = path.join(root, id)
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(path.join(folder, 'lock'), { timeout: 0 })
    lock.exec('begin exclusive')
    // Its last owner may have removed it between the two calls: then this is a lock on nothing.
    if (!existsSync(path.join(folder, 'lock'))) throw new Error('the journal was removed')
  } catch {
    lock?.close()
    return undefined
  }
  const held = lock
  return {
    id,
    folder,
    release() {
      if (held.isOpen) held.close()
    },
    remove() {
      const aside = folder + REMOVING
      renameSync(folder, aside)
      held.close()
      rmSync(aside, { recursive: true, force: true })
    },
  }
}
