import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Failure } from '../../domain/failure.ts'
import { StaleRow } from '../../domain/store.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { CommitListeners } from '../commit-listeners.ts'
import { createMigrationTable, currentVersion, migrate } from '../migrations/migrate.ts'
import type { ColumnTypes } from '../migrations/migration.ts'
import { type EngineTraits, nouns } from '../nouns.ts'
import type { OpenedStore } from '../opened-store.ts'
import { NOTHING_PENDING, PendingWrites } from '../pending-writes.ts'
import type { Schema } from '../schema.ts'
import { postgresChangeLog, TRANSACTION_COLUMN, TRANSACTION_INDEX } from './change-log.ts'
import { CLICK_DAYS_STORAGE } from './click-rows.ts'
import { openPool, type Pool } from './pool.ts'
import { postgresRawClickPages } from './raw-click-pages.ts'
import { RAW_CLICKS_TABLE } from './raw-clicks.ts'

const CONNECTIONS_MAX = 10
const SCAN_CONNECTIONS_MAX = 3
const STATEMENT_TIMEOUT_MS = 2_500
const SCAN_TIMEOUT_MS = 15_000
const MIGRATION_TIMEOUT_MS = 10 * 60 * 1_000
const VERSION_MIN = 15
/** Runs of one unit that others were in the way of, before that is a fault. */
const ATTEMPTS_MAX = 8
const RETRY_BASE_MS = 5
const RETRY_CAP_MS = 100

const TYPES: ColumnTypes = {
  uuid: 'uuid',
  sequence: 'bigint generated always as identity primary key',
  bytewiseText: 'text collate "C"',
  changeLogExtra: TRANSACTION_COLUMN,
  changeLogIndexes: [TRANSACTION_INDEX],
  number: 'bigint',
  bytes: 'bytea',
  clickExtras: [...RAW_CLICKS_TABLE, ...CLICK_DAYS_STORAGE],
}

const TRAITS: EngineTraits = {
  changeLog: postgresChangeLog,
  rawClicks: postgresRawClickPages,
  tellsInsertId: false,
}

/**
 * Connects to the database and brings it to this program's schema.
 *
 * @throws where PostgreSQL is older than 15, or the database is newer than the program
 */
export async function openPostgres(options: {
  url: string
  clock: Clock
  onError: (error: unknown) => void
}): Promise<OpenedStore> {
  const pools = {
    requests: openPool({
      ...options,
      connectionsMax: CONNECTIONS_MAX,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    }),
    scans: openPool({
      ...options,
      connectionsMax: SCAN_CONNECTIONS_MAX,
      statementTimeoutMs: SCAN_TIMEOUT_MS,
    }),
  }
  const db = over(pools.requests)
  const scans = over(pools.scans)
  const listeners = new CommitListeners()
  let version: string
  try {
    version = await serverVersion(db)
    const migrating = { connectionsMax: 1, statementTimeoutMs: MIGRATION_TIMEOUT_MS }
    await migrateWith(over(openPool({ ...options, ...migrating })), options.clock)
  } catch (error) {
    await Promise.all([db.destroy(), scans.destroy()])
    throw error
  }

  return {
    engine: `PostgreSQL ${version}`,
    db,
    poolUses: () => new Map(Object.entries(pools).map(([name, pool]) => [name, pool.use()])),
    store: {
      read: nouns(TRAITS, { db, scans, pending: NOTHING_PENDING }),
      async write(work) {
        for (let attempt = 1; ; attempt += 1) {
          try {
            const { pending, result } = await db.transaction().execute(async (tx) => {
              const pending = new PendingWrites(tx, (changes) => listeners.tell(changes))
              const result = await work(nouns(TRAITS, { db: tx, scans: tx, pending }))
              await pending.write()
              return { pending, result }
            })
            pending.committed()
            return result
          } catch (error) {
            if (!(error instanceof StaleRow)) throw error
            if (attempt === ATTEMPTS_MAX) throw Failure.unavailable(error)
            await sleep(backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS, Math.random()))
          }
        }
      },
      onChange: (listener) => listeners.add(listener),
      async close() {
        await Promise.all([db.destroy(), scans.destroy()])
      },
    },
  }
}

function over(pool: Pool): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
}

async function migrateWith(db: Kysely<Schema>, clock: Clock): Promise<void> {
  try {
    if ((await currentVersion(db)) === 0) await createMigrationTableOnce(db)
    await migrate({
      db,
      types: TYPES,
      clock,
      exclusively: (work) =>
        db.transaction().execute(async (tx) => {
          await sql`lock table schema_migrations in share row exclusive mode`.execute(tx)
          return work(tx)
        }),
    })
  } finally {
    await db.destroy()
  }
}

/** Two that run `create table if not exists` at once can collide in the catalogue; one has made it. */
async function createMigrationTableOnce(db: Kysely<Schema>): Promise<void> {
  try {
    await createMigrationTable(db)
  } catch (error) {
    const tables = await db.introspection.getTables()
    if (!tables.some((table) => table.name === 'schema_migrations')) throw error
  }
}

async function serverVersion(db: Kysely<Schema>): Promise<string> {
  const result = await sql<{ server_version: string }>`show server_version`.execute(db)
  const version = result.rows[0]?.server_version.split(' ')[0] ?? '0'
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw new Error(`PostgreSQL ${version} is too old; ${VERSION_MIN} or newer is needed.`)
  }
  return version
}
