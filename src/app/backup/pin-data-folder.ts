import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { countClicksAfter } from '../../clicks/journal/journal-reader.ts'
import { isUnavailable } from '../../platform/failure.ts'
import { RefusedFiles } from '../../storage/file-fault.ts'
import { countedFile, hasDataFiles } from '../../storage/sqlite/data-files.ts'
import { inTransaction } from '../../storage/sqlite/transaction.ts'
import { NoInstance } from '../../storage/store.ts'
import { examineFiles, readCounted } from '../database/sqlite/examine-files.ts'
import { FolderLock } from '../database/sqlite/folder-lock.ts'
import { type KnownDay, type PinnedDatabases, pinDatabases } from './pin-databases.ts'
import { PinnedJournals } from './pin-journals.ts'

/** How long to wait for a batch of clicks. A process that opens or closes the folder waits as long. */
const LOCK_MS = 1_500
const ATTEMPTS_MAX = 10

/** A data folder at one instant. */
export type PinnedFolder = {
  /** Everything that was answered before this instant is contained. */
  readonly consistentAt: Date
  /** Undefined with PostgreSQL. */
  readonly databases: PinnedDatabases | undefined
  readonly journals: PinnedJournals
}

/**
 * Pins the data folder of a service with PostgreSQL: its journals. Take them before the database is dumped:
 * what the dump has counted since is then not counted again.
 */
export function pinJournals(dataDir: string): PinnedFolder {
  const consistentAt = new Date()
  return { consistentAt, databases: undefined, journals: new PinnedJournals(dataDir, new Map()) }
}

/**
 * Pins all files of a data folder, whether or not a service uses it. No visit and no request waits; counting
 * clicks pauses for some milliseconds.
 *
 * @throws {RefusedFiles} when no service uses the folder, and its files do not belong together
 */
export async function pinDataFolder(
  dataDir: string,
  known: ReadonlyMap<number, KnownDay>,
): Promise<PinnedFolder> {
  if (!hasDataFiles(dataDir)) throw new NoInstance()
  const lock = new FolderLock(dataDir)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await lock.duringTurn((isOpen) => {
        if (!isOpen) examine(dataDir)
        return pinUnderLock(dataDir, known)
      })
    } catch (error) {
      // A batch of clicks took long. Others that wait for their turn go first.
      if (!isUnavailable(error) || attempt === ATTEMPTS_MAX) throw error
    }
  }
}

function examine(dataDir: string): void {
  const { faults } = examineFiles(dataDir, (id, from) => countClicksAfter(dataDir, id, from))
  if (faults.length > 0) throw new RefusedFiles(dataDir, faults)
}

async function pinUnderLock(
  dataDir: string,
  known: ReadonlyMap<number, KnownDay>,
): Promise<PinnedFolder> {
  const location = pathToFileURL(countedFile(dataDir))
  location.searchParams.set('mode', 'rw')
  const clicks = new DatabaseSync(location, { timeout: 0 })
  try {
    return await inTransaction(clicks, LOCK_MS, () => {
      let rest: Omit<PinnedFolder, 'databases'> | undefined
      const databases = pinDatabases(dataDir, known, (pinned) => {
        const consistentAt = new Date()
        const { positions } = pinned.read(readCounted)
        rest = { consistentAt, journals: new PinnedJournals(dataDir, positions) }
      })
      if (rest === undefined) throw new Error('the journals were not pinned')
      return { ...rest, databases }
    })
  } finally {
    clicks.close()
  }
}
