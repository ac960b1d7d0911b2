import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../clicks/store/sqlite/raw-click-files.ts'
import { formatDay } from '../../clicks/tally/click-day.ts'
import { CLICKS_FILE, DAYS_FOLDER, LINKS_FILE } from '../../storage/file-fault.ts'
import { hasLog } from '../../storage/sqlite/connection.ts'
import { countedFile, sqliteFile } from '../../storage/sqlite/data-files.ts'
import { readCounted, readDay } from '../database/sqlite/examine-files.ts'
import { type DatabaseTotals, databaseTotals } from './backup-totals.ts'

const BUSY_MS = 1_000
/** Pages of one step of a copy: 1 MiB. */
const STEP_PAGES = 256
/**
 * How much of a copy is written before it is synced. A large amount of unwritten data would delay the syncs of
 * the service, for which the file system may write it first.
 */
const SYNC_BYTES = 16 * 1024 * 1024
const PAGE_BYTES = 4096

/** The state of a file that no process writes to; undefined while it has a write-ahead log. */
type FileStamp = { readonly size: number; readonly mtimeMs: number; readonly inode: number }

/** A day's file of which the target has a copy, as it was then. */
export type KnownDay = { readonly stamp: FileStamp; readonly rows: number }

/** A database file in the state in which it was pinned, whatever is written to it since. */
export class PinnedDatabase {
  /** Relative to the data folder. */
  readonly path: string
  readonly #database: DatabaseSync

  /** @throws when the file does not exist */
  constructor(path: string, file: string) {
    this.path = path
    const location = pathToFileURL(file)
    // Without it, SQLite would create a file that was removed in the meantime.
    location.searchParams.set('mode', 'rw')
    this.#database = new DatabaseSync(location, { timeout: BUSY_MS })
    try {
      // A read transaction begins with the first read.
      this.#database.exec('begin; select count(*) from sqlite_schema')
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** The size of a copy. */
  get bytes(): number {
    const sum = 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size'
    return Number(this.#database.prepare(sum).get()?.bytes)
  }

  read<T>(work: (database: DatabaseSync) => T): T {
    return work(this.#database)
  }

  /** Copies the pinned state to a new file. */
  async copyTo(file: string): Promise<void> {
    let unsyncedPages = 0
    let leftBefore = 0
    await backup(this.#database, file, {
      rate: STEP_PAGES,
      progress({ remainingPages }) {
        unsyncedPages += Math.max(0, leftBefore - remainingPages)
        leftBefore = remainingPages
        if (unsyncedPages * PAGE_BYTES < SYNC_BYTES) return
        unsyncedPages = 0
        syncFile(file)
      },
    })
  }

  /**
   * Ends the pin. Moves what was written meanwhile from the log into the file, so that the service, whose
   * checkpoints had to wait, need not do it between two of its requests.
   */
  release(): void {
    if (!this.#database.isOpen) return
    try {
      if (this.#database.isTransaction) this.#database.exec('commit')
      this.#database.exec('pragma busy_timeout = 0; pragma wal_checkpoint(passive)')
    } finally {
      this.#database.close()
    }
  }
}

/** The database files of a data folder at one instant. */
export type PinnedDatabases = {
  readonly links: PinnedDatabase
  readonly clicks: PinnedDatabase
  /** Days' files that are not known. */
  readonly days: readonly PinnedDay[]
  /** Days of which the target already has the file as it is. */
  readonly unchangedDays: readonly number[]
  readonly totals: DatabaseTotals
  release(): void
}

type PinnedDay = {
  readonly day: number
  readonly rows: number
  readonly file: PinnedDatabase
  /** The stamp of the file, if it was complete without a log when it was pinned. */
  readonly stamp: FileStamp | undefined
}

/**
 * Pins clicks.db, the days' files and, after `between`, terse.db. The caller holds the write lock of clicks.db:
 * then no batch is counted meanwhile, what the days' files have in advance is marked as not counted, and terse.db
 * knows every link that they refer to.
 *
 * @param known the days that the target has
 * @param between called when everything but terse.db is pinned
 */
export function pinDatabases(
  dataDir: string,
  known: ReadonlyMap<number, KnownDay>,
  between: (clicks: PinnedDatabase) => void,
): PinnedDatabases {
  const pinned: PinnedDatabase[] = []
  const pin = (path: string, file: string) => {
    const database = new PinnedDatabase(path, file)
    pinned.push(database)
    return database
  }
  const release = () => {
    for (const database of pinned) database.release()
  }
  try {
    const clicks = pin(CLICKS_FILE, countedFile(dataDir))
    const dropped = clicks.read(readCounted).mark?.droppedBefore ?? Number.NEGATIVE_INFINITY
    const folder = rawClicksFolder(dataDir)
    const days: PinnedDay[] = []
    const unchangedDays: number[] = []
    for (const day of listRawDays(folder).filter((each) => each >= dropped)) {
      const file = rawClicksFile(folder, day)
      const stamp = stampOf(file)
      if (stamp !== undefined && isSame(stamp, known.get(day)?.stamp)) {
        unchangedDays.push(day)
        continue
      }
      const database = pin(`${DAYS_FOLDER}/${formatDay(day)}.db`, file)
      const { rows } = database.read((each) => readDay(each, day))
      days.push({ day, rows, file: database, stamp })
    }
    between(clicks)
    const links = pin(LINKS_FILE, sqliteFile(dataDir))
    const totals = links.read((ofLinks) =>
      clicks.read((ofClicks) => databaseTotals(ofLinks, ofClicks)),
    )
    return { links, clicks, days, unchangedDays, totals, release }
  } catch (error) {
    release()
    throw error
  }
}

function stampOf(file: string): FileStamp | undefined {
  if (hasLog(file)) return undefined
  const { size, mtimeMs, ino } = statSync(file)
  return { size, mtimeMs, inode: ino }
}

function isSame(a: FileStamp, b: FileStamp | undefined): boolean {
  return a.size === b?.size && a.mtimeMs === b.mtimeMs && a.inode === b.inode
}

function syncFile(file: string): void {
  const fd = openSync(file, 'r+')
  try {
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
