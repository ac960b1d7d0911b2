import type { Kysely } from 'kysely'
import { type FairQueue, type FairQueueOptions, QueueRefusal } from '../platform/work/fair-queue.ts'
import type { Schema } from './schema.ts'

/**
 * The time that all turns of one search or chart may take together. Waiting for turns does not
 * count.
 */
export const SCAN_MS_MAX = 10_000

/** Thrown by the store when a search or chart exceeds its reading time. */
export class ScanTooLong extends Error {
  override readonly name = 'ScanTooLong'
}

/**
 * Wall-clock time from a scan's first turn. With up to 5 s of waiting before it, and the last turn,
 * the sum stays below the 20 s after which an idle client connection is closed.
 */
const ELAPSED_MS_MAX = 13_000
const RETRY_AFTER_SECONDS = 5

/**
 * Options of the queue in front of an engine's scan connections. Only admitted searches, charts and
 * exports take turns, and their number is limited, so this queue reaches its own limits only when
 * the scan thread or the database hangs.
 */
export function scanQueueOptions(concurrency: number): FairQueueOptions {
  return {
    work: 'scans',
    concurrency,
    concurrencyPerOwner: 1,
    waitingPerOwnerMax: 256,
    waitingMax: 4_096,
    deadlineMs: ELAPSED_MS_MAX,
  }
}

/**
 * One search, chart or export. It reads in turns, so that scans of other workspaces run in between.
 */
export type Scan = {
  /**
   * Runs `work` in the next turn of the scan's workspace.
   *
   * @throws {ScanTooLong} when the scan's turns so far exceed its time limit
   * @throws {QueueRefusal} when the scan has waited too long for its turns
   * @throws the reason of the scan's signal, once that has aborted
   */
  turn<T>(work: () => Promise<T>): Promise<T>
}

export type ScanLimits = {
  readonly msMax?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A connection for queries that may read many rows. */
export type Scans = {
  readonly db: Kysely<Schema>
  /**
   * @param limits.msMax the limit for all turns of the scan together; without it there is no wall-clock
   *   limit either
   * @param limits.signal ends the scan before its next turn
   */
  begin(workspaceId: string, limits?: ScanLimits): Scan
}

type ScanOptions = {
  readonly queue: FairQueue
  /** The clock that measures turns; wall-clock time by default. */
  readonly nowMs?: () => number
  /** Whether an error is the engine's own query time-out. */
  readonly isTimeout?: (error: unknown) => boolean
}

/** Scans over connections that all workspaces share. */
export function sharedScans({
  db,
  ...options
}: ScanOptions & { readonly db: Kysely<Schema> }): Scans {
  return { db, ...scansIn(options) }
}

/** Scans over a database that is not the main one. */
export function scansIn(options: ScanOptions): Pick<Scans, 'begin'> {
  const { queue, nowMs = () => performance.now(), isTimeout = () => false } = options
  return {
    begin(workspaceId, { msMax = Number.POSITIVE_INFINITY, signal } = {}) {
      let spentMs = 0
      const untilMs =
        performance.now() + (msMax === Number.POSITIVE_INFINITY ? msMax : ELAPSED_MS_MAX)
      return {
        turn: (work) => {
          const take = async () => {
            if (spentMs > msMax) throw new ScanTooLong()
            if (performance.now() > untilMs) {
              throw new QueueRefusal(queue.work, 'deadline', RETRY_AFTER_SECONDS)
            }
            const startedMs = nowMs()
            try {
              return await work()
            } catch (error) {
              throw isTimeout(error) ? new ScanTooLong(undefined, { cause: error }) : error
            } finally {
              // The CPU time of a restarted thread starts at 0.
              spentMs += Math.max(0, nowMs() - startedMs)
            }
          }
          return queue.run(workspaceId, take, signal)
        },
      }
    },
  }
}

/** Scans within a transaction run immediately: a transaction must not wait for other workspaces. */
export function scansWithin(tx: Kysely<Schema>): Scans {
  return { db: tx, begin: () => ({ turn: (work) => work() }) }
}
