import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { Failure } from '../../domain/failure.ts'
import { translateError } from './errors.ts'

const CONNECT_TIMEOUT_MS = 2_000
/** Longer than the server's own time-out, so that the server is the one that ends a query. */
const QUERY_TIMEOUT_MARGIN_MS = 500
const INT8 = 20

/** The connections of one pool, at this moment. */
export type PoolUse = {
  readonly used: number
  readonly idle: number
  /** Those who wait for one. */
  readonly waiting: number
  readonly max: number
}

export type Pool = PostgresPool & { use(): PoolUse }

/** Connections that fail in the words of the store's port, and never wait without end. */
export function openPool(options: {
  url: string
  connectionsMax: number
  /** After which the server ends a query. */
  statementTimeoutMs: number
  /** Told when an idle connection breaks, which fails nobody. */
  onError: (error: unknown) => void
}): Pool {
  const { statementTimeoutMs } = options
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + QUERY_TIMEOUT_MARGIN_MS,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    keepAlive: true,
    application_name: 'terse',
    types: {
      // Counters and microseconds fit a double: a bigint of PostgreSQL is a number here.
      getTypeParser: ((oid, format) =>
        oid === INT8
          ? Number
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  })
  pool.on('error', options.onError)
  // While a client is lent out nobody else listens, and an unheard error ends the process. Whoever
  // has the client learns of it from the query.
  pool.on('connect', (client) => client.on('error', () => {}))
  return {
    options: pool.options,
    end: () => pool.end(),
    use: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: options.connectionsMax,
    }),
    connect: async () => {
      try {
        return translating(await pool.connect())
      } catch (error) {
        // Whatever the reason that the server gives, there is no connection.
        throw Failure.unavailable(error)
      }
    },
  }
}

const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>()

/** The client with its errors translated; the same wrapper for the same client, as Kysely expects. */
function translating(client: pg.PoolClient): PostgresPoolClient {
  const existing = wrappers.get(client)
  if (existing !== undefined) return existing
  let broken = false
  const wrapper = Object.create(client, {
    query: {
      value: (...parameters: unknown[]) =>
        Reflect.apply(client.query, client, parameters).catch((error: unknown) => {
          // A time-out or a lost connection: an answer may still come, or never will.
          broken ||= !(error instanceof pg.DatabaseError)
          throw translateError(error)
        }),
    },
    release: { value: (error?: Error | boolean) => client.release(error || broken) },
  }) as PostgresPoolClient
  wrappers.set(client, wrapper)
  return wrapper
}
