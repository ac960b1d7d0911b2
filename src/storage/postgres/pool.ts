import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { Failure } from '../../platform/failure.ts'
import { isConnectionLost, translateError } from './errors.ts'
import { PrimaryClient } from './primary-client.ts'

const CONNECT_TIMEOUT_MS = 2_000
/**
 * The least limit of starts and commands, for connecting and for the first queries. A busy server takes seconds to let
 * the first connection into a new database.
 */
export const START_TIMEOUT_MS = 15_000
/** Longer than the server's own time-out, so that the server is the one that ends a query. */
const CHECKOUT_MARGIN_MS = 250
/** The least time for a query after a long wait for the connection. */
const CHECKOUT_MS_MIN = 100
const CLOSE_TIMEOUT_MS = 1_000
/** Longer than the heartbeat interval, so that a node always keeps an open connection. */
const IDLE_TIMEOUT_MS = 60_000
const INT8 = 20

/** Blocks queries while the database is unavailable, and collects evidence of failures. */
export type Gate = {
  /** @throws while the database is unavailable */
  check(): void
  /** Reports a failure of the connection, which a probe then confirms or refutes. */
  suspect(): void
}

const OPEN_GATE: Gate = { check() {}, suspect() {} }

/** The current number of connections of one pool. */
export type PoolUse = {
  readonly used: number
  readonly idle: number
  /** Requests that wait for a connection. */
  readonly waiting: number
  readonly max: number
}

/**
 * A pool whose connections throw the errors that `Store` documents, and whose operations all have a
 * time limit.
 */
export type Pool = PostgresPool & {
  use(): PoolUse
  /** Destroys every connection, so that running queries fail immediately. */
  cutOff(): void
  /** Closes the idle connections: the server that they lead to may be gone. */
  dropIdle(): void
}

/**
 * @param options.statementTimeoutMs after which the server cancels a query. Shortly after it,
 *   counted from the request for a connection, the connection is destroyed, so that an unresponsive
 *   server holds it no longer than a slow query does.
 * @param options.connectTimeoutMs the limit for obtaining a connection
 * @param options.onError called when an idle connection breaks; no query fails by it
 */
export function openPool(options: {
  url: string
  connectionsMax: number
  statementTimeoutMs: number
  connectTimeoutMs?: number
  onError: (error: unknown) => void
  gate?: Gate
}): Pool {
  const { statementTimeoutMs, connectTimeoutMs = CONNECT_TIMEOUT_MS, gate = OPEN_GATE } = options
  const pool = new pg.Pool({
    ...connectionOptions(options.url),
    Client: PrimaryClient,
    max: options.connectionsMax,
    connectionTimeoutMillis: Math.min(connectTimeoutMs, statementTimeoutMs),
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // Concurrent queries are sent without waiting for each other: round trips dominate the cost on
    // a remote server.
    pipeline: true,
    types: {
      // Counters and microseconds fit a double, so a bigint is read as a number.
      getTypeParser: ((oid, format) =>
        oid === INT8
          ? Number
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  })
  const checkouts = new Map<pg.PoolClient, Checkout>()
  const idle = new Set<pg.PoolClient>()
  pool.on('error', (error) => {
    // pg attaches the whole client to the error, which does not belong in a log.
    Reflect.deleteProperty(error, 'client')
    options.onError(error)
  })
  pool.on('connect', (client) => checkouts.set(client, new Checkout(client, gate)))
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('release', (_error, client) => idle.add(client))
  pool.on('remove', (client) => {
    idle.delete(client)
    checkouts.delete(client)
  })
  const breakAll = (clients: Iterable<pg.PoolClient>) => {
    for (const client of clients) client.connection.stream.destroy()
  }

  return {
    options: pool.options,
    use: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: options.connectionsMax,
    }),
    async connect() {
      gate.check()
      const requestedMs = performance.now()
      let client: pg.PoolClient
      try {
        client = await pool.connect()
      } catch (error) {
        gate.suspect()
        // Unavailable for any reason: the caller has no connection.
        throw Failure.unavailable(error)
      }
      const waitedMs = performance.now() - requestedMs
      const checkout = checkouts.get(client) ?? new Checkout(client, gate)
      return checkout.begin(
        Math.max(CHECKOUT_MS_MIN, statementTimeoutMs + CHECKOUT_MARGIN_MS - waitedMs),
      )
    },
    cutOff: () => breakAll(checkouts.keys()),
    dropIdle: () => breakAll(idle),
    async end() {
      // An unresponsive server would never acknowledge the end.
      const timer = setTimeout(() => breakAll(checkouts.keys()), CLOSE_TIMEOUT_MS)
      await pool.end()
      clearTimeout(timer)
    },
  }
}

/** The options of every connection. */
export function connectionOptions(url: string): pg.ClientConfig {
  return { connectionString: url, keepAlive: true, application_name: 'terse' }
}

/**
 * A pooled connection with a time limit on each checkout. `begin` returns the same object each
 * time, as Kysely expects.
 */
class Checkout {
  readonly #client: pg.PoolClient
  readonly #gate: Gate
  readonly #wrapped: PostgresPoolClient
  #timer: NodeJS.Timeout | undefined
  #brokenBy: unknown

  constructor(client: pg.PoolClient, gate: Gate) {
    this.#client = client
    this.#gate = gate
    this.#wrapped = Object.create(client, {
      query: { value: (...parameters: unknown[]) => this.#query(parameters) },
      release: { value: (error?: Error | boolean) => this.#end(error) },
    }) as PostgresPoolClient
  }

  begin(durationMs: number): PostgresPoolClient {
    // setImmediate: an answer that arrived while the event loop was blocked is read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), durationMs)
    return this.#wrapped
  }

  async #query(parameters: unknown[]): Promise<unknown> {
    if (this.#brokenBy !== undefined) throw translateError(this.#brokenBy)
    try {
      return await Reflect.apply(this.#client.query, this.#client, parameters)
    } catch (error) {
      if (!isConnectionLost(error)) throw translateError(error)
      this.#brokenBy ??= error
      this.#gate.suspect()
      throw translateError(this.#brokenBy)
    }
  }

  #expire(): void {
    if (this.#timer === undefined) return
    this.#brokenBy = new Error('PostgreSQL did not answer in time')
    this.#client.connection.stream.destroy()
  }

  #end(error?: Error | boolean): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#client.release(error || this.#brokenBy !== undefined)
  }
}
