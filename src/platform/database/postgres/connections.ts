import { Kysely, PostgresDialect } from 'kysely'
import { Failure } from '../../failure.ts'
import { CircuitBreaker } from '../../work/circuit-breaker.ts'
import type { Schema } from '../schema.ts'
import { type Gate, openPool, type Pool, type PoolUse } from './pool.ts'
import { probe } from './probe.ts'

const CONNECTIONS_MAX = 10
export const SCAN_CONNECTIONS_MAX = 3
/** A sorted list takes two statements, which must be done before its connection is cut off after 20 s. */
const SCAN_STATEMENT_MS_MAX = 7_000
/** Less, because the log is read all the time: so a server that does not answer is soon noticed. */
const LOG_TIMEOUT_SHARE = 0.5
/** So that somebody whose query failed learns in time that all queries do. */
const PROBE_TIMEOUT_SHARE = 0.75

/** A node's connections to PostgreSQL. Together they know whether it is there. */
export type Connections = {
  /** For look-ups. */
  readonly db: Kysely<Schema>
  /** The connections of look-ups, for transactions. */
  readonly requests: Pool
  /** For queries that may look at many rows. */
  readonly scans: Kysely<Schema>
  /** For reading the change log, whatever else keeps the others busy. */
  readonly log: Kysely<Schema>
  /** The pools by their names. */
  poolUses(): ReadonlyMap<string, PoolUse>
  isAvailable(): boolean
  /** Takes the database to be away, for this reason. */
  giveUp(cause: unknown): void
  close(): Promise<void>
}

/**
 * @param options.timeoutMs for an answer to what a request asks
 * @param options.prepare what must have been done before anybody else may ask
 * @param options.onAway told why, when the database is taken to be away: everything then fails at once,
 *   and what was waiting for an answer too
 * @param options.onBack told when it answers again
 */
export function openConnections(options: {
  url: string
  timeoutMs: number
  onError: (error: unknown) => void
  prepare: () => Promise<void>
  onAway: (cause: unknown) => void
  onBack: () => void
}): Connections {
  const { url, timeoutMs, onError } = options
  const pools = new Map<string, Pool>()
  let hasRoom = true
  const breaker = new CircuitBreaker({
    async probe() {
      hasRoom = await probe(url, timeoutMs * PROBE_TIMEOUT_SHARE)
      await options.prepare()
    },
    onOpen(cause) {
      for (const pool of pools.values()) pool.cutOff()
      options.onAway(cause)
    },
    onPass(wasOpen) {
      // Something failed, and a new connection works: the old ones may lead to what failed. Where there is
      // no new one to be had, the failure is that, and no reason to give up what others would take.
      if (hasRoom) for (const pool of pools.values()) pool.dropIdle()
      if (wasOpen) options.onBack()
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
    giveUp: (cause) => breaker.open(cause),
    async close() {
      breaker.stop()
      await Promise.all([db.destroy(), scans.destroy(), log.destroy()])
    },
  }
}
