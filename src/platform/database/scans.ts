import type { Kysely } from 'kysely'
import { type FairQueue, type FairQueueOptions, QueueRefusal } from '../work/fair-queue.ts'
import { ScanTooLong } from './scan-too-long.ts'
import type { Schema } from './schema.ts'

/**
 * By the clock, from a scan's first turn: with 5 s before that, and the last turn, it is less than the 20 s after
 * which a connection is cut off on which nothing is sent.
 */
const UNDER_WAY_MS_MAX = 13_000
const RETRY_AFTER_SECONDS = 5

/**
 * The queue in front of an engine's connections for scans. Only searches, charts and exports that
 * have been admitted take turns, and these are bounded, so its own bounds are reached only where
 * the scan thread or the database hangs.
 */
export function scanQueueOptions(concurrency: number): FairQueueOptions {
  return {
    work: 'scans',
    concurrency,
    concurrencyPerOwner: 1,
    waitingPerOwnerMax: 256,
    waitingMax: 4_096,
    deadlineMs: UNDER_WAY_MS_MAX,
  }
}

/** One search, chart or export, which reads in turns so that other workspaces read in between. */
export type Scan = {
  /**
   * Does `work` in the next turn of the scan's workspace.
   *
   * @throws {ScanTooLong} when the turns so far took longer than the scan may
   * @throws {QueueRefusal} when it has waited for turns for too long
   */
  turn<T>(work: () => Promise<T>): Promise<T>
}

/** A connection for queries that may read many rows. */
export type Scans = {
  readonly db: Kysely<Schema>
  /** @param msMax for all turns of the scan together; one without is not bounded by the clock either */
  begin(workspaceId: string, msMax?: number): Scan
}

type SharedScansOptions = {
  readonly db: Kysely<Schema>
  readonly queue: FairQueue
  /** By which the time of a turn is measured; the clock on the wall when left out. */
  readonly nowMs?: () => number
  /** Whether an error means that the engine itself ended a query because it took too long. */
  readonly isTimeout?: (error: unknown) => boolean
}

/** Scans over connections that all workspaces share. */
export function sharedScans(options: SharedScansOptions): Scans {
  const { db, queue, nowMs = () => performance.now(), isTimeout = () => false } = options
  return {
    db,
    begin(workspaceId, msMax = Number.POSITIVE_INFINITY) {
      let spentMs = 0
      const untilMs =
        performance.now() + (msMax === Number.POSITIVE_INFINITY ? msMax : UNDER_WAY_MS_MAX)
      return {
        turn: (work) =>
          queue.run(workspaceId, async () => {
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
              // A thread that crashed begins again at 0.
              spentMs += Math.max(0, nowMs() - startedMs)
            }
          }),
      }
    },
  }
}

/** Scans within a transaction, which must not wait for other workspaces. */
export function scansWithin(tx: Kysely<Schema>): Scans {
  return { db: tx, begin: () => ({ turn: (work) => work() }) }
}
