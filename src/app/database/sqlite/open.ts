import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import {
  type ClickReaders,
  clickReports,
  storedClickDays,
} from '../../../clicks/store/click-reports.ts'
import { sqliteClickFeed } from '../../../clicks/store/sqlite/click-feed.ts'
import {
  rawClicksFolder,
  sqliteRawClickSource,
} from '../../../clicks/store/sqlite/raw-click-files.ts'
import { checkFiles } from '../../../data-files/check-files.ts'
import {
  type ClicksAfter,
  type Examination,
  examineFiles,
} from '../../../data-files/examine-files.ts'
import { beginRun, checkedVersion, endRun } from '../../../data-files/file-run.ts'
import { FolderLock } from '../../../data-files/folder-lock.ts'
import { sqliteEventFeed } from '../../../events/store/event-feed.ts'
import { sqliteEventMarks } from '../../../identity/store/erasure-store.ts'
import { findPageWith, findSortedBySlices } from '../../../links/store/link-scan.ts'
import { lastLinkNumber, skipLinkNumbers } from '../../../links/store/sqlite/link-sequence.ts'
import { createFolder } from '../../../platform/disk/folder.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { FairQueue } from '../../../platform/work/fair-queue.ts'
import { EventAuthors } from '../../../storage/event-log.ts'
import {
  type LastCheck,
  RefusedFiles,
  readLastCheck,
  writeLastCheck,
} from '../../../storage/file-fault.ts'
import { scanQueueOptions, scansWithin, sharedScans } from '../../../storage/scans.ts'
import type { Schema } from '../../../storage/schema.ts'
import {
  kyselyOver,
  SqliteConnection,
  sqliteChangeLog,
} from '../../../storage/sqlite/connection.ts'
import {
  attachForReading,
  countedFile,
  hasDataFiles,
  sqliteFile,
} from '../../../storage/sqlite/data-files.ts'
import { isBusy, translateError } from '../../../storage/sqlite/errors.ts'
import {
  readClicksMark,
  readLinksMark,
  writeLinksMark,
} from '../../../storage/sqlite/file-marks.ts'
import { CommitListeners, GroupCommit } from '../../../storage/sqlite/group-commit.ts'
import { ScanConnection } from '../../../storage/sqlite/scan-connection.ts'
import {
  CHECKPOINT_PAGES,
  OpenFiles,
  WriteAheadLog,
} from '../../../storage/sqlite/write-ahead-log.ts'
import { NoInstance } from '../../../storage/store.ts'
import { READ_ONLY_BUFFER, TransactionWrites } from '../../../storage/write-buffer.ts'
import { createMigrationTable, currentVersion, migrate } from '../migrations/migrate.ts'
import type { OpenedStore } from '../opened-store.ts'
import { type EngineTraits, storesOver } from '../stores.ts'
import { COLUMN_TYPES } from './column-types.ts'

/** How long to wait for another process that opens or closes the file. */
const OPEN_DEADLINE_MS = 10_000
/** With 16 MiB neither look-ups nor creates took less time: the system caches the file too. */
const PAGE_CACHE_KIB = 4 * 1024
const READ_BUSY_TIMEOUT_MS = 100
const RECORD_INTERVAL_MS = 20_000
const TRAITS = {
  changeLog: sqliteChangeLog,
  openFeed: sqliteEventFeed,
  eventMarks: sqliteEventMarks,
  findPage: findPageWith(findSortedBySlices),
  returnsInsertId: true,
  lockName: undefined,
  numbering: { skip: skipLinkNumbers, last: lastLinkNumber },
}

export type SqliteOptions = {
  readonly dataDir: string
  readonly clock: Clock
  /** Called with errors that fail no operation. */
  readonly onError: (error: unknown) => void
  /** As in `examineFiles`; without it journals are not examined. */
  readonly clicksAfter?: ClicksAfter | undefined
  /** Called before a check that may take minutes. */
  readonly onLongCheck?: (() => void) | undefined
  /** Whether to throw `NoInstance` when the folder holds no database, instead of creating one. */
  readonly mustExist?: boolean | undefined
  /** Of clicks that are in another database. */
  readonly clickReaders?: ClickReaders | undefined
}

/**
 * Opens or creates the database in the data folder and migrates it to this program's schema.
 *
 * @throws {RefusedFiles} when the files of the folder are damaged or from different points in
 *   time
 * @throws when SQLite is older than the first version without a known corruption bug, or the
 *   database is newer than the program
 */
export async function openSqlite(options: SqliteOptions): Promise<OpenedStore> {
  const version = checkedVersion()
  if (options.mustExist && !hasDataFiles(options.dataDir)) throw new NoInstance()
  createFolder(options.dataDir)
  const lock = new FolderLock(options.dataDir)
  return lock.enter(async (isFirst) => {
    const inspected = isFirst ? inspectFiles(options) : undefined
    const opened: DatabaseSync[] = []
    try {
      const connections = await openConnections(options, opened, inspected)
      return openStoreOver({ ...connections, ...options, lock }, version)
    } catch (error) {
      for (const database of opened) database.close()
      throw translateError(error, options.dataDir)
    }
  })
}

/** @param inspected undefined when another process has the folder open */
async function openConnections(
  options: SqliteOptions,
  opened: DatabaseSync[],
  inspected: Inspected | undefined,
): Promise<{ writer: DatabaseSync; reader: DatabaseSync }> {
  const { dataDir, onError } = options
  const file = sqliteFile(dataDir)
  const open = async (timeout: number) => {
    const database = await whenFree(() => openDatabase(file, timeout))
    opened.push(database)
    return database
  }
  const writer = await open(0)
  chmodSync(file, 0o600)
  await prepare(writer, options)
  try {
    if (inspected !== undefined) await beginRun(dataDir, inspected.examination, inspected)
  } catch (error) {
    // A full disk prevents the mark. The previous run then continues, and its marks stay valid.
    onError(error)
  }
  const reader = await open(READ_BUSY_TIMEOUT_MS)
  const counted = { file: countedFile(dataDir), name: 'counted' }
  for (const database of opened) await whenFree(() => attachForReading(database, counted))
  return { writer, reader }
}

/** Migrates both files to this program's schema. */
async function prepare(
  writer: DatabaseSync,
  { dataDir, clock, mustExist }: SqliteOptions,
): Promise<void> {
  const db = kyselyOver(new SqliteConnection(writer))
  if (mustExist && (await currentVersion(db)) === 0) throw new NoInstance()
  const commits = new GroupCommit(
    writer,
    new TransactionWrites({
      db,
      isDistant: false,
      eventAuthors: new EventAuthors(),
      onCommit() {},
    }),
  )
  await commits.run(() => createMigrationTable(db))
  const file = countedFile(dataDir)
  const counted = await whenFree(() => openDatabase(file, OPEN_DEADLINE_MS))
  try {
    chmodSync(file, 0o600)
    await migrate({
      db,
      clicks: kyselyOver(new SqliteConnection(counted)),
      types: COLUMN_TYPES,
      clock,
      exclusively: <T>(work: (tx: Kysely<Schema>) => Promise<T>) => commits.run(() => work(db)),
    })
  } finally {
    counted.close()
  }
}

type Opened = Pick<SqliteOptions, 'dataDir' | 'onError' | 'clickReaders'> & {
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
  readonly lock: FolderLock
}

function openStoreOver(opened: Opened, version: string): OpenedStore {
  const { writer, reader, dataDir, lock, onError } = opened
  // The log is the writer's as long as it is open. That of clicks.db is the drain thread's.
  const file = sqliteFile(dataDir)
  const openFiles = new OpenFiles([file, `${file}-wal`, countedFile(dataDir)])
  const listeners = new CommitListeners()
  const writing = kyselyOver(new SqliteConnection(writer))
  const writes = new TransactionWrites({
    db: writing,
    isDistant: false,
    eventAuthors: new EventAuthors(),
    onCommit: (changes) => listeners.notify(changes),
  })
  const log = new WriteAheadLog({ file, reader, onError })
  // From here on `log` syncs the commits and makes the checkpoints.
  writer.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
  const commits = new GroupCommit(writer, writes, log)
  const reading = kyselyOver(new SqliteConnection(reader))
  const scanConnection = new ScanConnection({
    file,
    clicksFile: countedFile(dataDir),
  })
  const scanQueue = new FairQueue(scanQueueOptions(1))
  const scans = sharedScans({
    db: kyselyOver(scanConnection),
    queue: scanQueue,
    nowMs: () => scanConnection.cpuMs,
  })

  const rawClicksAt = rawClicksFolder(dataDir)
  const rawClicks = sqliteRawClickSource(rawClicksAt, scanConnection)

  const recordingTimer = setInterval(() => {
    recordBatchCount({ writer, reader, commits }).catch(onError)
  }, RECORD_INTERVAL_MS)
  recordingTimer.unref()
  const traits: EngineTraits = {
    ...TRAITS,
    clickReaders: opened.clickReaders ?? {
      reports: ({ db, scans }) =>
        clickReports(db, scans, { days: storedClickDays(db), raw: rawClicks }),
      feed: (on) => sqliteClickFeed(rawClicksAt, scanConnection, on),
    },
  }
  const stores = storesOver(traits, { db: writing, scans: scansWithin(writing), writes })
  return {
    engine: `SQLite ${version}`,
    ready: Promise.resolve(),
    db: reading,
    poolUses: () => new Map(),
    uncheckedSinceMs: readLinksMark(reader)?.uncheckedSinceMs ?? undefined,
    scanQueue,
    findReplacedFile() {
      lock.keep()
      return openFiles.findReplaced()
    },
    store: {
      read: storesOver(traits, { db: reading, scans, writes: READ_ONLY_BUFFER }),
      async write(work) {
        const result = await commits.run(() => work(stores))
        openFiles.verifyCommit()
        return result
      },
      onChange: (listener) => listeners.add(listener),
      onRemoteChange() {},
      isAvailable: () => true,
      async close() {
        clearInterval(recordingTimer)
        await commits.idle()
        await log.close()
        await scanConnection.close()
        reader.close()
        writer.close()
        await leaveFolder(opened)
      },
    },
  }
}

/**
 * Records in terse.db how many batches clicks.db has ingested, so that an older clicks.db is
 * detected.
 */
async function recordBatchCount(at: {
  writer: DatabaseSync
  reader: DatabaseSync
  commits: GroupCommit
}): Promise<void> {
  const batches = readClicksMark(at.reader, 'counted')?.batches ?? 0
  const known = readLinksMark(at.reader)
  if (known === undefined || known.batches >= batches) return
  await at.commits.run(async () => {
    const mark = readLinksMark(at.writer)
    if (mark !== undefined) writeLinksMark(at.writer, { ...mark, batches })
  })
}

/**
 * Leaves the folder. The last process checkpoints the logs into the files, so that these can be
 * copied.
 */
async function leaveFolder({ lock, dataDir, onError }: Opened): Promise<void> {
  try {
    await lock.leave(() => endRun(dataDir))
  } catch (error) {
    // The next start recovers: it finds the logs, and a run that has not ended.
    onError(error)
  }
}

/** The result of inspecting files that may be served. */
type Inspected = {
  readonly examination: Examination
  /** Whether a full check has just passed. */
  readonly isChecked: boolean
  /** When the last full check without a fault began; minus infinity when there was none. */
  readonly lastCheckMs: number
}

/**
 * Verifies, before anything is written, that the files of a folder belong together. Runs a full
 * check on a copy of a folder whose last run did not end, because it may have been copied while the
 * service ran, and on files in which the last check found faults.
 *
 * @throws {RefusedFiles} when they do not belong together or are damaged
 */
function inspectFiles({
  dataDir,
  clicksAfter,
  onLongCheck,
}: {
  readonly dataDir: string
  readonly clicksAfter?: ClicksAfter | undefined
  readonly onLongCheck?: (() => void) | undefined
}): Inspected {
  const examination = examineFiles(dataDir, clicksAfter)
  const { faults, isStopped, isCopy } = examination
  if (faults.length > 0) throw new RefusedFiles(dataDir, faults)
  const last = readLastCheck(dataDir)
  const mustBeChecked = (isCopy && !isStopped) || (last !== undefined && last.faults.length > 0)
  if (!mustBeChecked) {
    const isSound = last?.isFull && last.faults.length === 0
    return {
      examination,
      isChecked: false,
      lastCheckMs: isSound ? last.startedMs : Number.NEGATIVE_INFINITY,
    }
  }
  onLongCheck?.()
  const startedMs = Date.now()
  const found = checkFiles(dataDir, { isFull: true, daysSinceMs: 0 })
  save(dataDir, { startedMs, endedMs: Date.now(), isFull: true, faults: found })
  if (found.length > 0) throw new RefusedFiles(dataDir, found)
  return { examination, isChecked: true, lastCheckMs: startedMs }
}

function save(dataDir: string, check: LastCheck): void {
  try {
    writeLastCheck(dataDir, check)
  } catch {
    // For example a full disk. The next check finds the same.
  }
}

/**
 * Retries `work` while another process holds the file's lock, which it does to switch the file to write-ahead logging, to
 * recover it, or to close it as the last process.
 */
async function whenFree<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + OPEN_DEADLINE_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
    await sleep(5 + Math.random() * 20)
  }
}

/**
 * Opens a file with the settings of the service. Deleted content is overwritten, also in freed pages, because a backup
 * copies every page.
 */
function openDatabase(file: string, timeout: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout, enableForeignKeyConstraints: true })
  try {
    configure(database)
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

function configure(database: DatabaseSync): void {
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma secure_delete = on;
    pragma cache_size = -${PAGE_CACHE_KIB};
    pragma temp_store = memory;
    pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
  `)
}
