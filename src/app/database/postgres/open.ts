import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import {
  type ClickReaders,
  clickReports,
  storedClickDays,
} from '../../../clicks/store/click-reports.ts'
import { postgresClickFeed } from '../../../clicks/store/postgres/click-feed.ts'
import { postgresRawClickSource } from '../../../clicks/store/postgres/raw-clicks.ts'
import { postgresEventFeed } from '../../../events/store/event-feed.ts'
import { postgresEventMarks } from '../../../identity/store/erasure-store.ts'
import { findPageWith, findSortedAtOnce } from '../../../links/store/link-scan.ts'
import { lastLinkNumber, skipLinkNumbers } from '../../../links/store/postgres/link-sequence.ts'
import { Failure, isUnavailable } from '../../../platform/failure.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { backoffMs } from '../../../platform/work/async.ts'
import { FairQueue } from '../../../platform/work/fair-queue.ts'
import { EventAuthors } from '../../../storage/event-log.ts'
import { postgresChangeLog } from '../../../storage/postgres/change-log.ts'
import { openConnections, SCAN_CONNECTIONS_MAX } from '../../../storage/postgres/connections.ts'
import { isQueryCanceled } from '../../../storage/postgres/errors.ts'
import { Notifications } from '../../../storage/postgres/notifications.ts'
import { openPool, START_TIMEOUT_MS } from '../../../storage/postgres/pool.ts'
import { probe } from '../../../storage/postgres/probe.ts'
import { lockName, Transaction } from '../../../storage/postgres/transaction.ts'
import { scanQueueOptions, scansWithin, sharedScans } from '../../../storage/scans.ts'
import type { Schema } from '../../../storage/schema.ts'
import { CommitListeners } from '../../../storage/sqlite/group-commit.ts'
import { NoInstance, StaleRow } from '../../../storage/store.ts'
import { READ_ONLY_BUFFER, TransactionWrites } from '../../../storage/write-buffer.ts'
import {
  createMigrationTable,
  currentVersion,
  migrate,
  SCHEMA_VERSION,
} from '../migrations/migrate.ts'
import type { OpenedStore } from '../opened-store.ts'
import { type EngineTraits, type Stores, storesOver } from '../stores.ts'
import { COLUMN_TYPES } from './column-types.ts'

/** The default limit for a request's query. */
const TIMEOUT_MS = 2_000
const MIGRATION_TIMEOUT_MS = 10 * 60 * 1_000
const VERSION_MIN = 15
/** The maximum number of attempts of a transaction that conflicts with others. */
const ATTEMPTS_MAX = 12
/** No attempt starts later than this, so that the request is answered in time. */
const RETRY_FOR_MS = 1_250
const RETRY_BASE_MS = 5
const RETRY_CAP_MS = 100

const TRAITS: EngineTraits = {
  changeLog: postgresChangeLog,
  openFeed: postgresEventFeed,
  eventMarks: postgresEventMarks,
  clickReaders: {
    reports: ({ db, scans }) =>
      clickReports(db, scans, { days: storedClickDays(db), raw: postgresRawClickSource(scans) }),
    feed: postgresClickFeed,
  },
  findPage: findPageWith(findSortedAtOnce),
  returnsInsertId: false,
  lockName,
  numbering: { skip: skipLinkNumbers, last: lastLinkNumber },
}

export type PostgresOptions = {
  readonly url: string
  readonly clock: Clock
  /**
   * The limit for a request's query, 2 s by default. A query that takes longer fails as
   * unavailable. The first queries of a start have at least 15 s.
   */
  readonly timeoutMs?: number | undefined
  readonly onError: (error: unknown) => void
  /**
   * Called with the cause when the database becomes unavailable, and with undefined when it is
   * available again.
   */
  readonly onAvailability?: ((cause: unknown) => void) | undefined
  /**
   * Whether to start while the database is unavailable. It is then migrated once it is available;
   * until then every operation fails as unavailable.
   */
  readonly mayBeUnavailable?: boolean | undefined
  /** Whether to throw `NoInstance` when the database holds no instance, instead of creating one. */
  readonly mustExist?: boolean | undefined
  /** Of clicks that are in another database. */
  readonly clickReaders?: ClickReaders | undefined
}

/**
 * Connects to the database and migrates it to this program's schema.
 *
 * @throws when PostgreSQL is older than 15, or the database is newer than the program
 */
export async function openPostgres(options: PostgresOptions): Promise<OpenedStore> {
  const { url, timeoutMs = TIMEOUT_MS, onError, onAvailability } = options
  const ready = Promise.withResolvers<void>()
  // Prevents an unhandled rejection when the caller does not await `ready`.
  ready.promise.catch(() => {})
  let version: string | undefined

  async function prepare(): Promise<void> {
    if (version !== undefined) return
    version = await prepareDatabase(options)
    ready.resolve()
  }

  const traits = { ...TRAITS, clickReaders: options.clickReaders ?? TRAITS.clickReaders }
  const eventAuthors = new EventAuthors()
  const connections = openConnections({
    url,
    timeoutMs,
    onError(error) {
      // A connection broke: perhaps the server failed over to a standby that has not received all rows.
      eventAuthors.forget()
      onError(error)
    },
    async prepare() {
      try {
        await prepare()
      } catch (error) {
        if (!isUnavailable(error)) ready.reject(error)
        throw error
      }
    },
    onUnavailable: (cause) => onAvailability?.(cause),
    onAvailable() {
      notifications.renew()
      eventAuthors.forget()
      onAvailability?.(undefined)
    },
  })
  const { db, log } = connections
  const scanQueue = new FairQueue(scanQueueOptions(SCAN_CONNECTIONS_MAX))
  const scans = sharedScans({
    db: connections.scans,
    queue: scanQueue,
    isTimeout: isQueryCanceled,
  })
  const listeners = new CommitListeners()
  const notifications = new Notifications({
    url,
    send: (channel, payload) => sql`select pg_notify(${channel}, ${payload})`.execute(db),
  })
  try {
    // Probe first: the connections of `prepare` wait longer for an unresponsive server.
    if (options.mayBeUnavailable) await probeNow(url, timeoutMs)
    await prepare()
  } catch (error) {
    if (!(options.mayBeUnavailable && isUnavailable(error))) {
      await connections.close()
      throw error
    }
    connections.markUnavailable(error)
  }

  async function writeOnce<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    const { writes, value } = await Transaction.run(connections.requests, async (tx) => {
      const writes = new TransactionWrites({
        db: tx,
        isDistant: true,
        eventAuthors,
        onCommit(changes) {
          listeners.notify(changes)
          void notifications.send()
        },
      })
      const value = await work(storesOver(traits, { db: tx, scans: scansWithin(tx), writes }))
      return { result: { writes, value }, last: writes.take() }
    })
    writes.committed()
    return value
  }

  return {
    engine: version === undefined ? 'PostgreSQL' : `PostgreSQL ${version}`,
    ready: ready.promise,
    db,
    poolUses: connections.poolUses,
    uncheckedSinceMs: undefined,
    scanQueue,
    store: {
      read: storesOver(
        { ...traits, changeLog: () => postgresChangeLog(log, READ_ONLY_BUFFER) },
        { db, scans, writes: READ_ONLY_BUFFER },
      ),
      write: (work) => retryWhileStale(() => writeOnce(work)),
      onChange: (listener) => listeners.add(listener),
      onRemoteChange: (listener) => notifications.onRemoteChange(listener),
      isAvailable: connections.isAvailable,
      async close() {
        notifications.close()
        await connections.close()
      },
    },
  }
}

/** Runs a transaction again while another one changes the rows that it has read. */
async function retryWhileStale<T>(run: () => Promise<T>): Promise<T> {
  const startedMs = performance.now()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof StaleRow)) throw error
      const elapsedMs = performance.now() - startedMs
      if (attempt === ATTEMPTS_MAX || elapsedMs > RETRY_FOR_MS) {
        throw Failure.unavailable(error, { kind: 'database_busy' })
      }
      await sleep(backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS, Math.random()))
    }
  }
}

async function probeNow(url: string, timeoutMs: number): Promise<void> {
  try {
    await probe(url, timeoutMs)
  } catch (error) {
    throw Failure.unavailable(error)
  }
}

/** Migrates the database to this program's schema and returns the server's version. */
async function prepareDatabase(options: PostgresOptions): Promise<string> {
  const { timeoutMs = TIMEOUT_MS, clock } = options
  const found = await overOneConnection(
    options,
    Math.max(timeoutMs, START_TIMEOUT_MS),
    async (db) => ({
      server: await serverVersion(db),
      schema: await currentVersion(db),
    }),
  )
  if (found.schema === 0 && options.mustExist) throw new NoInstance()
  if (found.schema >= SCHEMA_VERSION) return found.server
  // Only a migration, or waiting for another process's migration, gets the long time-out.
  await overOneConnection(options, MIGRATION_TIMEOUT_MS, async (db) => {
    if (found.schema === 0) await createMigrationTableOnce(db)
    await migrate({
      db,
      types: COLUMN_TYPES,
      clock,
      exclusively: (work) =>
        db.transaction().execute(async (tx) => {
          await sql`lock table schema_migrations in share row exclusive mode`.execute(tx)
          return work(tx)
        }),
    })
  })
  return found.server
}

async function overOneConnection<T>(
  { url, onError }: PostgresOptions,
  statementTimeoutMs: number,
  work: (db: Kysely<Schema>) => Promise<T>,
): Promise<T> {
  const pool = openPool({
    url,
    onError,
    connectionsMax: 1,
    statementTimeoutMs,
    connectTimeoutMs: START_TIMEOUT_MS,
  })
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/**
 * Ignores the error of two processes that run `create table if not exists` at the same time: they
 * can collide in the catalogue, after which the table exists.
 */
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
    throw new Error(`PostgreSQL ${version} is too old; ${VERSION_MIN} or newer is required.`)
  }
  return version
}
