import { chmodSync, existsSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import { createFolder } from '../../lib/create-folder.ts'
import { CommitListeners } from '../commit-listeners.ts'
import { createMigrationTable, currentVersion, migrate } from '../migrations/migrate.ts'
import type { ColumnTypes } from '../migrations/migration.ts'
import { type EngineTraits, nouns } from '../nouns.ts'
import type { OpenedStore } from '../opened-store.ts'
import { NOTHING_PENDING, PendingWrites } from '../pending-writes.ts'
import type { Schema } from '../schema.ts'
import { sqliteChangeLog } from './change-log.ts'
import { attachForReading, countedFile, rawClicksFolder } from './click-files.ts'
import { SqliteConnection } from './connection.ts'
import { kyselyOver } from './dialect.ts'
import { isBusy, translateError } from './errors.ts'
import { GroupCommit } from './group-commit.ts'
import { sqliteRawClickPages } from './raw-click-pages.ts'
import { ScanConnection } from './scan-connection.ts'

/** Before this version a checkpoint could corrupt the file (https://sqlite.org/wal.html#walresetbug). */
const SQLITE_VERSION_MIN = [3, 51, 3]
const READ_BUSY_TIMEOUT_MS = 100
const OPEN_DEADLINE_MS = 10_000
const PAGE_CACHE_KIB = 16 * 1024
/**
 * The write-ahead log's length, 16 MiB, at which it is taken into the database. New keys are spread over
 * all of their index, so a page that many creates change is written fewer times than with SQLite's 1,000.
 */
const CHECKPOINT_PAGES = 4_000

const TYPES: ColumnTypes = {
  uuid: 'text',
  sequence: 'integer primary key autoincrement',
  linkSequence: 'integer primary key autoincrement',
  linkConstraints: 'unique (id)',
  bytewiseText: 'text',
  changeLogExtra: '',
  changeLogIndexes: [],
  number: 'integer',
  bytes: 'blob',
  clickExtras: [],
}

const TRAITS = { changeLog: sqliteChangeLog, tellsInsertId: true }

/** The database file of a data folder. */
export function sqliteFile(dataDir: string): string {
  return path.join(dataDir, 'terse.db')
}

/**
 * Opens, or makes, the database in the data folder and brings it to this program's schema.
 *
 * @throws where SQLite is too old to be trusted, or the database is newer than the program
 */
export async function openSqlite(options: { dataDir: string; clock: Clock }): Promise<OpenedStore> {
  const version = checkedVersion()
  createFolder(options.dataDir)
  const file = sqliteFile(options.dataDir)
  const opened: DatabaseSync[] = []
  const open = async (timeout: number) => {
    const database = await whenFree(() => openDatabase(file, timeout))
    opened.push(database)
    return database
  }
  try {
    const writer = await open(0)
    chmodSync(file, 0o600)
    await prepare(writer, options)
    const reader = await open(READ_BUSY_TIMEOUT_MS)
    const counted = { file: countedFile(options.dataDir), name: 'counted' }
    for (const database of opened) {
      await whenFree(() => attachForReading(database, counted))
    }
    return openStoreOver({ writer, reader, dataDir: options.dataDir }, version)
  } catch (error) {
    for (const database of opened) database.close()
    throw translateError(error)
  }
}

/** Brings both files to this program's schema. */
async function prepare(
  writer: DatabaseSync,
  { dataDir, clock }: { dataDir: string; clock: Clock },
): Promise<void> {
  const db = kyselyOver(new SqliteConnection(writer))
  const commits = new GroupCommit(writer, new PendingWrites(db, () => {}))
  await commits.run(() => createMigrationTable(db))
  const file = countedFile(dataDir)
  // In this order: a process that begins at the same moment makes the file before the version.
  if ((await currentVersion(db)) > 0 && !existsSync(file)) {
    throw new Error(
      `${file} is missing: it holds what has been counted of the links in terse.db. Restore both from the same backup.`,
    )
  }
  const counted = await whenFree(() => openDatabase(file, OPEN_DEADLINE_MS))
  try {
    chmodSync(file, 0o600)
    await migrate({
      db,
      clicks: kyselyOver(new SqliteConnection(counted)),
      types: TYPES,
      clock,
      exclusively: <T>(work: (tx: Kysely<Schema>) => Promise<T>) => commits.run(() => work(db)),
    })
  } finally {
    counted.close()
  }
}

function openStoreOver(
  { writer, reader, dataDir }: { writer: DatabaseSync; reader: DatabaseSync; dataDir: string },
  version: string,
): OpenedStore {
  const listeners = new CommitListeners()
  const writing = kyselyOver(new SqliteConnection(writer))
  const pending = new PendingWrites(writing, (changes) => listeners.tell(changes))
  const commits = new GroupCommit(writer, pending)
  const reading = kyselyOver(new SqliteConnection(reader))
  const scanConnection = new ScanConnection({
    file: sqliteFile(dataDir),
    clicksFile: countedFile(dataDir),
  })
  const scanning = kyselyOver(scanConnection)

  const rawClicks = sqliteRawClickPages(rawClicksFolder(dataDir), scanConnection)

  const traits: EngineTraits = { ...TRAITS, rawClicks: () => rawClicks }
  const stores = nouns(traits, { db: writing, scans: writing, pending })
  return {
    engine: `SQLite ${version}`,
    ready: Promise.resolve(),
    db: reading,
    poolUses: () => new Map(),
    store: {
      read: nouns(traits, { db: reading, scans: scanning, pending: NOTHING_PENDING }),
      write: (work) => commits.run(() => work(stores)),
      onChange: (listener) => listeners.add(listener),
      onNews() {},
      isAvailable: () => true,
      async close() {
        await commits.idle()
        await scanConnection.close()
        reader.close()
        writer.close()
      },
    },
  }
}

/** Waits while another process makes the file a write-ahead one, recovers it, or is the last to close it. */
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
    pragma cache_size = -${PAGE_CACHE_KIB};
    pragma temp_store = memory;
    pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
  `)
}

/** Asked of a database in memory: one that is too old must not touch the file. */
function checkedVersion(): string {
  const database = new DatabaseSync(':memory:')
  const row = database.prepare('select sqlite_version() as version').get()
  database.close()
  const version = String(row?.version)
  const parts = version.split('.').map(Number)
  for (const [index, min] of SQLITE_VERSION_MIN.entries()) {
    const part = parts[index] ?? 0
    if (part > min) break
    if (part < min) {
      throw new Error(
        `SQLite ${version} has a bug that can damage the database; ${SQLITE_VERSION_MIN.join('.')} or newer is needed. Use the Node.js that npm ci installs.`,
      )
    }
  }
  return version
}
