import type { DatabaseSync } from 'node:sqlite'
import { OPENING_BUCKET } from '../../../clicks/spool/spool-codec.ts'
import { spoolReader } from '../../../clicks/spool/spool-reader.ts'
import { clickSpoolStore } from '../../../clicks/store/click-spool-store.ts'
import type { JournalPosition } from '../../../clicks/store/click-store.ts'
import { kyselyOver, openToRead, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import { sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { hasTable } from '../../../storage/sqlite/file-marks.ts'

const BUSY_MS = 5_000

/** Returns how many clicks an import has spooled after a position; undefined if no spool has this name. */
export function spooledClicksAfter(
  dataDir: string,
  journalId: string,
  from: JournalPosition,
): number | undefined {
  const database = openToRead(sqliteFile(dataDir), BUSY_MS)
  try {
    const id = findSpool(database, journalId)
    if (id === undefined) return undefined
    const row = database
      .prepare(`select coalesce(sum(clicks), 0) as clicks from click_spool_parts
        where spool_id = ? and bucket >= ${OPENING_BUCKET} and (bucket, part) > (?, ?)`)
      .get(id, from.segment, from.offset)
    return Number(row?.clicks)
  } finally {
    database.close()
  }
}

/** Returns where the batch of a spool ends that begins at a position; undefined if no spool has this name. */
export async function spoolPositionAfter(
  dataDir: string,
  journalId: string,
  from: JournalPosition,
): Promise<JournalPosition | undefined> {
  const database = openToRead(sqliteFile(dataDir), BUSY_MS)
  try {
    const id = findSpool(database, journalId)
    if (id === undefined) return undefined
    const reader = spoolReader(clickSpoolStore(kyselyOver(new SqliteConnection(database))))
    const batch = await reader.read(id, from.segment === 0 ? undefined : from)
    return batch?.to ?? from
  } finally {
    database.close()
  }
}

function findSpool(database: DatabaseSync, journalId: string): string | undefined {
  if (!hasTable(database, 'main', 'click_spools')) return undefined
  const row = database.prepare('select id from click_spools where journal_id = ?').get(journalId)
  return row === undefined ? undefined : String(row.id)
}
