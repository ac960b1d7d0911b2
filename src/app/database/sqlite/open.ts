import { chmodSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { sqliteClickFeed } from '../../../clicks/store/sqlite/click-feed.ts'
import {
  rawClicksFolder,
  sqliteRawClickSource,
} from '../../../clicks/store/sqlite/raw-click-files.ts'
import type { ClicksAfter } from '../../../data-files/examine-files.ts'
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
import { translateError } from '../../../storage/sqlite/errors.ts'
import {
  readClicksMark,
  readLinksMark,
  writeLinksMark,
} from '../../../storage/sqlite/file-marks.ts'
import { CommitListeners, GroupCommit } from '../../../storage/sqlite/group-commit.ts'
import { ScanConnection } from '../../../storage/sqlite/scan-connection.ts'
import { OpenFiles, WriteAheadLog } from '../../../storage/sqlite/write-ahead-log.ts'
import { NoInstance } from '../../../storage/store.ts'
import { READ_ONLY_BUFFER, TransactionWrites } from '../../../storage/write-buffer.ts'
import { createMigrationTable, currentVersion, migrate } from '../migrations/migrate.ts'
import type { OpenedStore } from '../opened-store.ts'
import { type EngineTraits, storesOver } from '../stores.ts'
import { COLUMN_TYPES } from './column-types.ts'
import { type Inspected, inspectFiles } from './inspect-files.ts'
import { OPEN_DEADLINE_MS, openDatabase, whenFree } from './open-file.ts'

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

type Opened = Pick<SqliteOptions, 'dataDir' | 'onError'> & {
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
    rawClicks: () => rawClicks,
    clickFeed: (on) => sqliteClickFeed(rawClicksAt, scanConnection, on),
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
