import type { Clock } from '../../platform/time/clock.ts'
import type { OpenedStore } from './opened-store.ts'
import type { SqliteOptions } from './sqlite/open.ts'

/** Opens the configured database and migrates it to this program's schema. */
export async function openStore(options: {
  databaseUrl: string | undefined
  dataDir: string
  clock: Clock
  /** Called with errors that fail no request, such as a broken idle connection. */
  onError: (error: unknown) => void
  /**
   * Called with the cause when the database becomes unavailable, and with undefined when it is
   * available again.
   */
  onAvailability?: (cause: unknown) => void
  /** As in `openPostgres`. */
  timeoutMs?: number
  /** As in `openPostgres`; ignored by SQLite. */
  mayBeUnavailable?: boolean | undefined
  /** Whether to throw `NoInstance` instead of creating a new instance. */
  mustExist?: boolean | undefined
  /** As in `openSqlite`. */
  clicksAfter?: SqliteOptions['clicksAfter']
  /** As in `openSqlite`. */
  onLongCheck?: () => void
}): Promise<OpenedStore> {
  const { databaseUrl: url, ...rest } = options
  // Loads only the engine in use: the other's code would take a tenth of the start-up time.
  if (url === undefined) {
    const { openSqlite } = await import('./sqlite/open.ts')
    return openSqlite(rest)
  }
  const { openPostgres } = await import('./postgres/open.ts')
  return openPostgres({ ...rest, url })
}
