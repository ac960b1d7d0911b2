import type { ClickHistory } from '../../clicks/move/click-history.ts'
import { storedHistory } from '../../clicks/move/stored-history.ts'
import { postgresOwnedClicks } from '../../clicks/store/postgres/raw-clicks.ts'
import { rawClicksFolder, sqliteOwnedClicks } from '../../clicks/store/sqlite/raw-click-files.ts'
import type { Config } from '../config/config.ts'
import type { OpenedStore } from './opened-store.ts'

/**
 * Reads the clicks that are in the database itself.
 *
 * @param origin the ClickHouse whose clicks are left out, where some came back from it
 */
export function storedHistoryOf(
  { db }: Pick<OpenedStore, 'db'>,
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  origin: number | undefined,
): ClickHistory {
  const folder = rawClicksFolder(dataDir)
  return storedHistory(db, {
    origin,
    clicks: (day) =>
      databaseUrl === undefined
        ? sqliteOwnedClicks(folder, day, origin)
        : postgresOwnedClicks(db, day, origin),
  })
}
