import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Failure } from '../../domain/failure.ts'
import { type Nouns, StaleRow } from '../../domain/store.ts'
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
import { openConnections } from './connections.ts'
import { Notifications } from './notifications.ts'
import { openPool } from './pool.ts'
import { probe } from './probe.ts'
import { postgresRawClickPages } from './raw-click-pages.ts'
import { RAW_CLICKS_TABLE } from './raw-clicks.ts'

const MIGRATION_TIMEOUT_MS = 10 * 60 * 1_000
const VERSION_MIN = 15
/** Runs of one unit that others were in the way of, before that is a fault. */
const ATTEMPTS_MAX = 8
/** After which there are no more of them, so that the answer does not come too late. */
const RETRY_FOR_MS = 750
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

export type PostgresOptions = {
  readonly url: string
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** Told when the database is taken to be away, and why; and with undefined when it is back. */
  readonly onAvailability?: ((cause: unknown) => void) | undefined
  /**
   * Whether to go on where the database is away at the start. Then it is brought to this program's
   * schema once it is there, and until then everything fails as unavailable.
   */
  readonly mayBeAway?: boolean | undefined
}

/**
 * Connects to the database and brings it to this program's schema.
 *
 * @throws where PostgreSQL is older than 15, or the database is newer than the program
 */
export async function openPostgres(options: PostgresOptions): Promise<OpenedStore> {
  const { url, onError, onAvailability } = options
  const ready = Promise.withResolvers<void>()
  // Whoever opened it may not care for long.
  ready.promise.catch(() => {})
  let version: string | undefined

  async function prepare(): Promise<void> {
    if (version !== undefined) return
    version = await prepareDatabase(options)
    ready.resolve()
  }

  const connections = openConnections({
    url,
    onError,
    async prepare() {
      try {
        await prepare()
      } catch (error) {
        if (!isUnavailable(error)) ready.reject(error)
        throw error
      }
    },
    onAway: (cause) => onAvailability?.(cause),
    onBack() {
      notifications.renew()
      onAvailability?.(undefined)
    },
  })
  const { db, scans, log } = connections
  const listeners = new CommitListeners()
  const notifications = new Notifications({
    url,
    send: (channel, payload) => sql`select pg_notify(${channel}, ${payload})`.execute(db),
  })
  try {
    // Of a server that does not answer nothing long is asked.
    if (options.mayBeAway) await probeNow(url)
    await prepare()
  } catch (error) {
    if (!(options.mayBeAway && isUnavailable(error))) {
      await connections.close()
      throw error
    }
    connections.giveUp(error)
  }

  async function writeOnce<T>(work: (stores: Nouns) => Promise<T>): Promise<T> {
    const { pending, result } = await db.transaction().execute(async (tx) => {
      const pending = new PendingWrites(tx, (changes) => {
        listeners.tell(changes)
        void notifications.tell()
      })
      const result = await work(nouns(TRAITS, { db: tx, scans: tx, pending }))
      await pending.write()
      return { pending, result }
    })
    pending.committed()
    return result
  }

  return {
    engine: version === undefined ? 'PostgreSQL' : `PostgreSQL ${version}`,
    ready: ready.promise,
    db,
    poolUses: connections.poolUses,
    store: {
      read: {
        ...nouns(TRAITS, { db, scans, pending: NOTHING_PENDING }),
        changes: postgresChangeLog(log, NOTHING_PENDING),
      },
      async write(work) {
        const startedMs = performance.now()
        for (let attempt = 1; ; attempt += 1) {
          try {
            return await writeOnce(work)
          } catch (error) {
            if (!(error instanceof StaleRow)) throw error
            const triedMs = performance.now() - startedMs
            if (attempt === ATTEMPTS_MAX || triedMs > RETRY_FOR_MS) throw Failure.unavailable(error)
            await sleep(backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS, Math.random()))
          }
        }
      },
      onChange: (listener) => listeners.add(listener),
      onNews: (listener) => notifications.onNews(listener),
      isAvailable: connections.isAvailable,
      async close() {
        notifications.close()
        await connections.close()
      },
    },
  }
}

async function probeNow(url: string): Promise<void> {
  try {
    await probe(url)
  } catch (error) {
    throw Failure.unavailable(error)
  }
}

/** Brings the database to this program's schema; the server's version. */
async function prepareDatabase({ url, clock, onError }: PostgresOptions): Promise<string> {
  const pool = openPool({
    url,
    onError,
    connectionsMax: 1,
    statementTimeoutMs: MIGRATION_TIMEOUT_MS,
  })
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    const version = await serverVersion(db)
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
    return version
  } finally {
    await db.destroy()
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.code === 'unavailable'
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
