import type { ClickHistory } from '../../clicks/move/click-history.ts'
import { storedHistory } from '../../clicks/move/stored-history.ts'
import { postgresOwnedClicks } from '../../clicks/store/postgres/raw-clicks.ts'
import { rawClicksFolder, sqliteOwnedClicks } from '../../clicks/store/sqlite/raw-click-files.ts'
import type { Config } from '../config/config.ts'
import type { OpenedStore } from './opened-store.ts'

/** Reads the clicks that are in the database itself. */
export function storedHistoryOf(
  { db }: Pick<OpenedStore, 'db'>,
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
): ClickHistory {
  const folder = rawClicksFolder(dataDir)
  return storedHistory(db, (day) =>
    databaseUrl === undefined ? sqliteOwnedClicks(folder, day) : postgresOwnedClicks(db, day),
  )
}
