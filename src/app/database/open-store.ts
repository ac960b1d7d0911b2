import type { ClickReaders } from '../../clicks/store/click-reports.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ClickHouseAccess } from '../../storage/clickhouse/clicks-url.ts'
import { SCAN_MS_MAX } from '../../storage/scans.ts'
import type { OpenedStore } from './opened-store.ts'
import type { SqliteOptions } from './sqlite/open.ts'

/** Opens the configured database and migrates it to this program's schema. */
export async function openStore(options: {
  databaseUrl: string | undefined
  dataDir: string
  /** Where the clicks are; undefined when they are in the database itself. */
  clicks?: ClickHouseAccess | undefined
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
  const { clicks, ...rest } = options
  if (clicks === undefined) return openEngine(rest)
  const { readers, check, close } = await openClickReaders(clicks)
  try {
    const opened = await openEngine({ ...rest, clickReaders: readers })
    const { store } = opened
    const closeAll = async () => {
      await store.close()
      await close()
    }
    return { ...opened, checkClicks: check, store: { ...store, close: closeAll } }
  } catch (error) {
    await close()
    throw error
  }
}

async function openEngine({
  databaseUrl: url,
  ...rest
}: Omit<Parameters<typeof openStore>[0], 'clicks'> & {
  clickReaders?: ClickReaders
}): Promise<OpenedStore> {
  // Loads only the engine in use: the other's code would take a tenth of the start-up time.
  if (url === undefined) {
    const { openSqlite } = await import('./sqlite/open.ts')
    return openSqlite(rest)
  }
  const { openPostgres } = await import('./postgres/open.ts')
  return openPostgres({ ...rest, url })
}

/** How many queries a process has at a time, of charts, exports and live views. */
const CLICK_CONNECTIONS_MAX = 10

async function openClickReaders(access: ClickHouseAccess): Promise<{
  readers: ClickReaders
  check: () => Promise<void>
  close: () => Promise<void>
}> {
  const { openClickDatabase } = await import('../../clicks/store/clickhouse/click-database.ts')
  const { clickHouseReaders } = await import('../../clicks/store/clickhouse/click-readers.ts')
  const db = openClickDatabase(access, {
    timeoutMs: SCAN_MS_MAX,
    connectionsMax: CLICK_CONNECTIONS_MAX,
  })
  const check = async () => {
    await db.rows('select 1')
  }
  return { readers: clickHouseReaders(db), check, close: () => db.close() }
}
