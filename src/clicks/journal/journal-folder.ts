import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A journal that this process alone reads and writes, until it lets go or ends. */
export type JournalFolder = {
  readonly id: string
  readonly folder: string
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
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** The journals that no living process owns; now this one does. */
export function adoptJournals(root: string): JournalFolder[] {
  const adopted: JournalFolder[] = []
  for (const id of listJournals(root)) {
    const journal = tryLock(root, id)
    if (journal !== undefined) adopted.push(journal)
  }
  return adopted
}

export function createJournal(root: string): JournalFolder {
  const id = randomUUID()
  mkdirSync(path.join(root, id), { recursive: true, mode: 0o700 })
  const journal = tryLock(root, id)
  if (journal === undefined) throw new Error(`the new journal ${id} is locked`)
  return journal
}

/**
 * Takes the journal's lock, which the operating system frees when the process ends, however it ends.
 * Node has no file locks of its own; SQLite's are exactly that.
 */
function tryLock(root: string, id: string): JournalFolder | undefined {
  const folder = path.join(root, id)
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(path.join(folder, 'lock'), { timeout: 0 })
    lock.exec('begin exclusive')
  } catch {
    lock?.close()
    return undefined
  }
  const held = lock
  return {
    id,
    folder,
    release: () => held.close(),
    remove() {
      rmSync(folder, { recursive: true, force: true })
      held.close()
    },
  }
}
