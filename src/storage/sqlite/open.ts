import { chmodSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import { CommitListeners, collectChanges } from '../commit-listeners.ts'
import { createMigrationTable, migrate } from '../migrations/migrate.ts'
import type { ColumnTypes } from '../migrations/migration.ts'
import { nouns } from '../nouns.ts'
import type { OpenedStore } from '../opened-store.ts'
import type { Schema } from '../schema.ts'
import { sqliteChangeLog } from './change-log.ts'
import { SqliteConnection } from './connection.ts'
import { kyselyOver } from './dialect.ts'
import { translateError } from './errors.ts'
import { GroupCommit } from './group-commit.ts'
import { ScanConnection } from './scan-connection.ts'

/** Before this version a checkpoint could corrupt the file (https://sqlite.org/wal.html#walresetbug). */
const SQLITE_VERSION_MIN = [3, 51, 3]
const READ_BUSY_TIMEOUT_MS = 100
const PAGE_CACHE_KIB = 16 * 1024

const TYPES: ColumnTypes = {
  uuid: 'text',
  sequence: 'integer primary key autoincrement',
  bytewiseText: 'text',
  changeLogExtra: '',
}

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
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const file = sqliteFile(options.dataDir)
  let writer: DatabaseSync
  let reader: DatabaseSync
  try {
    writer = open(file, 0)
    chmodSync(file, 0o600)
    reader = open(file, READ_BUSY_TIMEOUT_MS)
  } catch (error) {
    throw translateError(error)
  }
  const version = sqliteVersion(writer)
  const commits = new GroupCommit(writer)
  const writing = kyselyOver(new SqliteConnection(writer))
  const reading = kyselyOver(new SqliteConnection(reader))
  const scanConnection = new ScanConnection(file)
  const scanning = kyselyOver(scanConnection)
  const listeners = new CommitListeners()

  await commits.run(() => createMigrationTable(writing))
  await migrate({
    db: writing,
    types: TYPES,
    clock: options.clock,
    exclusively: <T>(work: (tx: Kysely<Schema>) => Promise<T>) => commits.run(() => work(writing)),
  })

  const stores = nouns(writing, writing, sqliteChangeLog(writing))
  return {
    engine: `SQLite ${version}`,
    db: reading,
    store: {
      read: nouns(reading, scanning, sqliteChangeLog(reading)),
      async write(work) {
        const { changes, collecting } = collectChanges(stores.changes)
        const result = await commits.run(() => work({ ...stores, changes: collecting }))
        listeners.tell(changes)
        return result
      },
      onChange: (listener) => listeners.add(listener),
      async close() {
        await commits.idle()
        await scanConnection.close()
        reader.close()
        writer.close()
      },
    },
  }
}

function open(file: string, timeout: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout, enableForeignKeyConstraints: true })
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma cache_size = -${PAGE_CACHE_KIB};
    pragma temp_store = memory;
  `)
  return database
}

function sqliteVersion(database: DatabaseSync): string {
  const row = database.prepare('select sqlite_version() as version').get()
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
