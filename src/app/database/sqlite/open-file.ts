import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from '../../../storage/sqlite/errors.ts'
import { CHECKPOINT_PAGES } from '../../../storage/sqlite/write-ahead-log.ts'

/** How long to wait for another process that opens or closes the file. */
export const OPEN_DEADLINE_MS = 10_000
const PAGE_CACHE_KIB = 16 * 1024

/**
 * Retries `work` while another process holds the file's lock: to switch it to write-ahead logging,
 * to recover it, or to close it as the last.
 */
export async function whenFree<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + OPEN_DEADLINE_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
    await sleep(5 + Math.random() * 20)
  }
}

/**
 * Opens a file with the settings of the service. What is deleted is overwritten, also in pages that become free: a
 * backup has every page.
 */
export function openDatabase(file: string, timeout: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout, enableForeignKeyConstraints: true })
  try {
    configure(database)
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

function configure(database: DatabaseSync): void {
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma secure_delete = on;
    pragma cache_size = -${PAGE_CACHE_KIB};
    pragma temp_store = memory;
    pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
  `)
}
