import type { Clock } from '../lib/clock.ts'
import type { OpenedStore } from './opened-store.ts'
import { openPostgres } from './postgres/open.ts'
import { openSqlite } from './sqlite/open.ts'

/** Opens the database that the configuration names, brought to this program's schema. */
export function openStore(options: {
  databaseUrl: string | undefined
  dataDir: string
  clock: Clock
  /** Told of faults that fail no request, such as an idle connection that broke. */
  onError: (error: unknown) => void
  /** Told when the database is taken to be away, and why; and with undefined when it is back. */
  onAvailability?: (cause: unknown) => void
}): Promise<OpenedStore> {
  const { databaseUrl: url, ...rest } = options
  return url === undefined ? openSqlite(rest) : openPostgres({ ...rest, url })
}
