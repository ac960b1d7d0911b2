import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { Failure } from '../../failure.ts'
import { isConnectionLost, translateError } from './errors.ts'

const CONNECT_TIMEOUT_MS = 2_000
/** Longer than the server's own time-out, so that the server is the one that ends a query. */
const LOAN_MARGIN_MS = 250
/** For what is left of the time when it took long to get a connection. */
const LOAN_MS_MIN = 100
const CLOSE_TIMEOUT_MS = 1_000
/** Longer than between two heartbeats, so that a node always has a connection that is open. */
const IDLE_TIMEOUT_MS = 60_000
const INT8 = 20

/** Who decides whether the database is asked at all, and hears of what speaks against it. */
export type Gate = {
  /** @throws while the database is away */
  check(): void
  suspect(): void
}

const OPEN_GATE: Gate = { check() {}, suspect() {} }

/** The connections of one pool, at this moment. */
export type PoolUse = {
  readonly used: number
  readonly idle: number
  /** Those who wait for one. */
  readonly waiting: number
  readonly max: number
}

/** Connections that fail in the words of the store's port, and never wait without end. */
export type Pool = PostgresPool & {
  use(): PoolUse
  /** Breaks every connection, so that what waits for an answer fails at once. */
  cutOff(): void
  /** Gives up the connections that nobody uses: what they lead to may be gone. */
  dropIdle(): void
}

/**
 * @param options.statementTimeoutMs after which the server ends a query; shortly after it, counted from
 *   when a connection was asked for, whoever has one loses it, so that a server which does not answer
 *   at all holds no connection longer than a query that is slow
 * @param options.connectTimeoutMs for who waits for a connection
 * @param options.onError told when an idle connection breaks, which fails nobody
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
    max: options.connectionsMax,
    connectionTimeoutMillis: Math.min(connectTimeoutMs, statementTimeoutMs),
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // What is asked for at once is sent at once: on a distant server round trips are what costs.
    pipeline: true,
    types: {
      // Counters and microseconds fit a double: a bigint of PostgreSQL is a number here.
      getTypeParser: ((oid, format) =>
        oid === INT8
          ? Number
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  })
  const loans = new Map<pg.PoolClient, Loan>()
  const idle = new Set<pg.PoolClient>()
  pool.on('error', (error) => {
    // pg adds the whole client, which is no matter of whoever reads a log.
    Reflect.deleteProperty(error, 'client')
    options.onError(error)
  })
  // While a client is lent out nobody else listens, and an unheard error ends the process. Whoever
  // has the client learns of it from the query.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    loans.set(client, new Loan(client, gate))
  })
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('release', (_error, client) => idle.add(client))
  pool.on('remove', (client) => {
    idle.delete(client)
    loans.delete(client)
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
      const askedMs = performance.now()
      let client: pg.PoolClient
      try {
        client = await pool.connect()
      } catch (error) {
        gate.suspect()
        // Whatever the reason that the server gives, there is no connection.
        throw Failure.unavailable(error)
      }
      const waitedMs = performance.now() - askedMs
      const loan = loans.get(client) ?? new Loan(client, gate)
      return loan.begin(Math.max(LOAN_MS_MIN, statementTimeoutMs + LOAN_MARGIN_MS - waitedMs))
    },
    cutOff: () => breakAll(loans.keys()),
    dropIdle: () => breakAll(idle),
    async end() {
      // A server that does not answer does not say goodbye either.
      const timer = setTimeout(() => breakAll(loans.keys()), CLOSE_TIMEOUT_MS)
      await pool.end()
      clearTimeout(timer)
    },
  }
}

/** What every connection of ours has in common. */
export function connectionOptions(url: string): pg.ClientConfig {
  return { connectionString: url, keepAlive: true, application_name: 'terse' }
}

/** One connection as it is lent: the same object each time, as Kysely expects. */
class Loan {
  readonly #client: pg.PoolClient
  readonly #gate: Gate
  readonly #lent: PostgresPoolClient
  #timer: NodeJS.Timeout | undefined
  #brokenBy: unknown

  constructor(client: pg.PoolClient, gate: Gate) {
    this.#client = client
    this.#gate = gate
    this.#lent = Object.create(client, {
      query: { value: (...parameters: unknown[]) => this.#query(parameters) },
      release: { value: (error?: Error | boolean) => this.#end(error) },
    }) as PostgresPoolClient
  }

  begin(durationMs: number): PostgresPoolClient {
    // An answer that has arrived while this process was busy is read before the time is taken to be up.
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), durationMs)
    return this.#lent
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
