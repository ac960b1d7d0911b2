import type { Clock } from '../../platform/time/clock.ts'
import type { OpenedStore } from './opened-store.ts'
import type { SqliteOptions } from './sqlite/open.ts'

/** Opens the database that the configuration names, brought to this program's schema. */
export async function openStore(options: {
  databaseUrl: string | undefined
  dataDir: string
  clock: Clock
  /** Told of faults that fail no request, such as an idle connection that broke. */
  onError: (error: unknown) => void
  /** Told when the database is taken to be away, and why; and with undefined when it is back. */
  onAvailability?: (cause: unknown) => void
  /** As in `openPostgres`. */
  timeoutMs?: number
  /** As in `openPostgres`; SQLite is never away. */
  mayBeAway?: boolean | undefined
  /** Whether to fail with `NoInstance` where nothing was made before, and make nothing. */
  mustExist?: boolean | undefined
  /** As in `openSqlite`. */
  clicksAfter?: SqliteOptions['clicksAfter']
  /** As in `openSqlite`. */
  onLongCheck?: () => void
}): Promise<OpenedStore> {
  const { databaseUrl: url, ...rest } = options
  // A process loads one engine: the other's code would be a tenth of its start.
  if (url === undefined) {
    const { openSqlite } = await import('./sqlite/open.ts')
    return openSqlite(rest)
  }
  const { openPostgres } = await import('./postgres/open.ts')
  return openPostgres({ ...rest, url })
}
