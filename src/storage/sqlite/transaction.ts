import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../platform/failure.ts'
import { backoffMs } from '../../platform/work/async.ts'
import { folderOf, isBusy, translateError } from './errors.ts'

const BUSY_WAIT_BASE_MS = 2
const BUSY_WAIT_CAP_MS = 50

/**
 * Runs `work` in a write transaction and rolls back when it throws. Nothing else may use the
 * connection meanwhile.
 *
 * @param deadlineMs how long to wait for another process to release the lock
 * @throws `Failure.unavailable` when the lock is not released in time
 */
export async function inTransaction<T>(
  database: DatabaseSync,
  deadlineMs: number,
  work: () => Promise<T> | T,
): Promise<T> {
  try {
    await beginWhenFree(database, deadlineMs)
    const result = await work()
    database.exec('commit')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw translateError(error, folderOf(database))
  }
}

async function beginWhenFree(database: DatabaseSync, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs
  for (let attempt = 0; ; attempt += 1) {
    try {
      database.exec('begin immediate')
      return
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) throw Failure.unavailable(error, { kind: 'database_busy' })
      await sleep(1 + backoffMs(attempt, BUSY_WAIT_BASE_MS, BUSY_WAIT_CAP_MS, Math.random()))
    }
  }
}
