import { Kysely, PostgresDialect } from 'kysely'
import { Failure } from '../../platform/failure.ts'
import { CircuitBreaker } from '../../platform/work/circuit-breaker.ts'
import type { Schema } from '../schema.ts'
import { type Gate, openPool, type Pool, type PoolUse } from './pool.ts'
import { probe } from './probe.ts'

const CONNECTIONS_MAX = 10
export const SCAN_CONNECTIONS_MAX = 3
/**
 * A sorted list takes two statements, which must end before its client connection is closed after
 * 20 s.
 */
const SCAN_STATEMENT_MS_MAX = 7_000
/**
 * Shorter than for requests: the log is read continuously, so this detects an unresponsive server
 * early.
 */
const LOG_TIMEOUT_SHARE = 0.5
/** Short enough that the probe ends while the request whose query failed is still waiting. */
const PROBE_TIMEOUT_SHARE = 0.75

/** A node's connections to PostgreSQL, which share one circuit breaker. */
export type Connections = {
  /** For look-ups. */
  readonly db: Kysely<Schema>
  /** The pool behind `db`, for transactions. */
  readonly requests: Pool
  /** For queries that may read many rows. */
  readonly scans: Kysely<Schema>
  /** For reading the change log, even when the other pools are exhausted. */
  readonly log: Kysely<Schema>
  /** The pools by their names. */
  poolUses(): ReadonlyMap<string, PoolUse>
  isAvailable(): boolean
  /** Opens the circuit breaker: the database counts as unavailable, for this reason. */
  markUnavailable(cause: unknown): void
  close(): Promise<void>
}

/**
 * @param options.timeoutMs the limit for a request's query
 * @param options.prepare must succeed before the breaker closes and queries are allowed
 * @param options.onUnavailable called with the cause when the breaker opens; running and new queries
 *   then fail immediately
 * @param options.onAvailable called when the database answers again
 */
export function openConnections(options: {
  url: string
  timeoutMs: number
  onError: (error: unknown) => void
  prepare: () => Promise<void>
  onUnavailable: (cause: unknown) => void
  onAvailable: () => void
}): Connections {
  const { url, timeoutMs, onError } = options
  const pools = new Map<string, Pool>()
  let hasSpareConnection = true
  const breaker = new CircuitBreaker({
    async probe() {
      hasSpareConnection = await probe(url, timeoutMs * PROBE_TIMEOUT_SHARE)
      await options.prepare()
    },
    onOpen(cause) {
      for (const pool of pools.values()) pool.cutOff()
      options.onUnavailable(cause)
    },
    onPass(wasOpen) {
      // A query failed but a new connection works, so idle connections may lead to a server that is
      // gone. When the server had no connection to spare, that was the failure: keep the idle ones,
      // because others would take their place.
      if (hasSpareConnection) for (const pool of pools.values()) pool.dropIdle()
      if (wasOpen) options.onAvailable()
    },
  })
  const gate: Gate = {
    check() {
      if (breaker.isOpen) throw Failure.unavailable(breaker.cause)
    },
    suspect: () => breaker.suspect(),
  }
  const connect = (name: string, connectionsMax: number, statementTimeoutMs: number) => {
    const pool = openPool({
      ...{ url, onError, gate, connectionsMax, statementTimeoutMs },
      connectTimeoutMs: timeoutMs,
    })
    pools.set(name, pool)
    return { pool, db: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }) }
  }
  const { db, pool: requests } = connect('requests', CONNECTIONS_MAX, timeoutMs)
  const { db: scans } = connect('scans', SCAN_CONNECTIONS_MAX, SCAN_STATEMENT_MS_MAX)
  const { db: log } = connect('changes', 1, timeoutMs * LOG_TIMEOUT_SHARE)
  return {
    db,
    requests,
    scans,
    log,
    poolUses: () => new Map(pools.entries().map(([name, pool]) => [name, pool.use()])),
    isAvailable: () => !breaker.isOpen,
    markUnavailable: (cause) => breaker.open(cause),
    async close() {
      breaker.stop()
      await Promise.all([db.destroy(), scans.destroy(), log.destroy()])
    },
  }
}
