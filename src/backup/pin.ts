import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import path from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { formatDay } from '../clicks/index.ts'
import {
  countClicksAfter,
  endOfClicks,
  isJournalId,
  type JournalPosition,
  journalsRoot,
  listJournals,
  listRawDays,
  listSegments,
  rawClicksFile,
  rawClicksFolder,
  segmentFile,
  writeFence,
} from '../clicks/store/index.ts'
import { examineFiles, FolderLock, readCounted, readDay } from '../data-files/index.ts'
import { copyBytes } from '../platform/disk/file.ts'
import { createFolder } from '../platform/disk/folder.ts'
import { isUnavailable } from '../platform/failure.ts'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import { CLICKS_FILE, DAYS_FOLDER, LINKS_FILE, RefusedFiles } from '../storage/file-fault.ts'
import { hasLog, openToRead } from '../storage/sqlite/connection.ts'
import { countedFile, hasDataFiles, sqliteFile } from '../storage/sqlite/data-files.ts'
import { hasTable, readClicksMark, readGivenNumbers } from '../storage/sqlite/file-marks.ts'
import { inTransaction } from '../storage/sqlite/transaction.ts'
import { NoInstance } from '../storage/store.ts'
import type { BackupContent, BackupTotals } from './manifest.ts'

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
function pinDatabases(
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

type PinnedSegment = {
  readonly segment: number
  /** Stays readable when the service removes the segment. */
  readonly fd: number
  readonly size: number
}
type PinnedJournal = {
  readonly id: string
  /** Up to where the journal is counted; undefined when that is unknown. */
  readonly from: JournalPosition | undefined
  readonly segments: readonly PinnedSegment[]
}

/** The journals of a data folder up to the lengths that they had at one instant. */
export class PinnedJournals {
  readonly #journals: readonly PinnedJournal[]

  /** @param positions up to where journals are counted: what is before is not needed */
  constructor(dataDir: string, positions: ReadonlyMap<string, JournalPosition>) {
    const root = journalsRoot(dataDir)
    const journals: PinnedJournal[] = []
    this.#journals = journals
    try {
      for (const id of listJournals(root).filter(isJournalId)) {
        const segments: PinnedSegment[] = []
        const from = positions.get(id)
        journals.push({ id, from, segments })
        for (const segment of listSegments(path.join(root, id))) {
          if (segment < (from?.segment ?? 0)) continue
          const fd = openIfExists(segmentFile(path.join(root, id), segment))
          if (fd === undefined) continue
          segments.push({ segment, fd, size: fstatSync(fd).size })
        }
      }
    } catch (error) {
      this.release()
      throw error
    }
  }

  /**
   * Copies the journals that have clicks to another data folder, without a frame at the end that was being
   * written.
   *
   * @returns the clicks that are not counted, by journal
   */
  copyTo(dataDir: string): ReadonlyMap<string, number> {
    const pending = new Map<string, number>()
    for (const { id, from, segments } of this.#journals) {
      if (segments.length === 0) continue
      const folder = path.join(journalsRoot(dataDir), id)
      createFolder(folder)
      for (const { segment, fd, size } of segments)
        copyBytes(fd, size, segmentFile(folder, segment))
      cutTornEnd(folder, endOfClicks(dataDir, id, from), segments.at(-1))
      const count = countClicksAfter(dataDir, id, from)
      if (count === 0) {
        rmSync(folder, { recursive: true })
        continue
      }
      writeFence(folder)
      pending.set(id, count)
    }
    return pending
  }

  release(): void {
    for (const { segments } of this.#journals) for (const { fd } of segments) closeSync(fd)
  }
}

/** Cuts off bytes at the end of a journal that are no click yet: its visitor was not answered. */
function cutTornEnd(
  folder: string,
  end: JournalPosition | undefined,
  last: PinnedSegment | undefined,
): void {
  if (last === undefined) return
  const endOffset = end?.segment === last.segment ? end.offset : 0
  if (endOffset < last.size) truncateSync(segmentFile(folder, last.segment), endOffset)
}

/** Undefined for a segment that was counted and removed in the meantime. */
function openIfExists(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const TIMEOUT_MS = 2_500

type FullTotals = NonNullable<BackupTotals['database']>
/** The totals of terse.db and clicks.db. */
type DatabaseTotals = Omit<FullTotals, 'rowsByDay'>

/** Reads the totals of terse.db and clicks.db. */
function databaseTotals(links: DatabaseSync, clicks: DatabaseSync): DatabaseTotals {
  const mark = readClicksMark(clicks)
  return {
    schemaVersion: numberOf(links, 'schema_migrations', 'max(version)'),
    workspaces: numberOf(links, 'workspaces', 'count(*)'),
    links: numberOf(links, 'link_buckets', 'sum(links)'),
    lastLink: readGivenNumbers(links).links,
    clicks: mark?.clicks ?? 0,
    batches: mark?.batches ?? 0,
  }
}

/** Reads the totals of a restored data folder that no process has opened since. */
export function totalsOfFolder(dataDir: string, engine: BackupContent['engine']): BackupTotals {
  const positions = new Map<string, JournalPosition>()
  const database = engine === 'sqlite' ? totalsOfFiles(dataDir, positions) : null
  const pending: Record<string, number> = {}
  for (const id of listJournals(journalsRoot(dataDir)).filter(isJournalId)) {
    pending[id] = countClicksAfter(dataDir, id, positions.get(id))
  }
  return { database, pending }
}

function totalsOfFiles(dataDir: string, positions: Map<string, JournalPosition>): FullTotals {
  const links = openToRead(sqliteFile(dataDir), TIMEOUT_MS)
  const clicks = openToRead(countedFile(dataDir), TIMEOUT_MS)
  try {
    for (const [id, position] of readCounted(clicks).positions) positions.set(id, position)
    return { ...databaseTotals(links, clicks), rowsByDay: rowsByDay(dataDir) }
  } finally {
    clicks.close()
    links.close()
  }
}

function rowsByDay(dataDir: string): Record<string, number> {
  const folder = rawClicksFolder(dataDir)
  const rows: Record<string, number> = {}
  for (const day of listRawDays(folder)) {
    const database = openToRead(rawClicksFile(folder, day), TIMEOUT_MS)
    try {
      rows[formatDay(day)] = readDay(database, day).rows
    } finally {
      database.close()
    }
  }
  return rows
}

function numberOf(database: DatabaseSync, table: string, expression: string): number {
  if (!hasTable(database, 'main', table)) return 0
  const row = database.prepare(`select coalesce(${expression}, 0) as value from ${table}`).get()
  return Number(row?.value)
}
