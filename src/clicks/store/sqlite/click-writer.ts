import { DatabaseSync } from 'node:sqlite'
import { type SqlBool, sql } from 'kysely'
import { LinkNumbers, sqliteLinkSequence } from '../../../links/store/index.ts'
import { SqliteConnection } from '../../../platform/database/sqlite/connection.ts'
import {
  attachForReading,
  countedFile,
  sqliteFile,
} from '../../../platform/database/sqlite/data-files.ts'
import { kyselyOver } from '../../../platform/database/sqlite/dialect.ts'
import { translateError } from '../../../platform/database/sqlite/errors.ts'
import { inTransaction } from '../../../platform/database/sqlite/transaction.ts'
import { Turns } from '../../../platform/work/turns.ts'
import type { ClickBatch, ClickWriter } from '../../click-writer.ts'
import { growthOf } from '../batch-growth.ts'
import { foldDays, settleDays } from '../click-day-folder.ts'
import { findPosition, movePosition } from '../click-store.ts'
import { OwnerCache } from '../owner-cache.ts'
import type { RawClickRows } from '../raw-click-rows.ts'
import { BatchMarks } from './batch-marks.ts'
import { sqliteClickRows } from './click-rows.ts'
import { rawClicksFolder } from './raw-click-days.ts'
import { RawClickFiles } from './raw-click-files.ts'

/** Well under a second's work: the more clicks share a page, the fewer pages are written. */
const BATCH_MAX = 20_000
const BUSY_DEADLINE_MS = 5_000
const PAGE_CACHE_KIB = 32 * 1024
/** Pages in the log before it is copied into the file: a page that is written often is copied once. */
const CHECKPOINT_PAGES = 32_000
/** Days of subjects that are settled in one transaction. */
const SETTLE_MAX = 16

/** Opens the counted clicks of a data folder whose database is up to date. */
export function openSqliteClickWriter(dataDir: string, rawRows: RawClickRows): ClickWriter {
  const database = new DatabaseSync(countedFile(dataDir), { timeout: BUSY_DEADLINE_MS })
  try {
    database.exec(`
      pragma synchronous = full;
      pragma cache_size = -${PAGE_CACHE_KIB};
      pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
    `)
    attachForReading(database, { file: sqliteFile(dataDir), name: 'terse' })
    // From here on transactions wait by themselves, without holding up the thread.
    database.exec('pragma busy_timeout = 0')
    return clickWriterOver(database, dataDir, rawRows)
  } catch (error) {
    database.close()
    throw translateError(error, dataDir)
  }
}

function clickWriterOver(
  database: DatabaseSync,
  dataDir: string,
  rawRows: RawClickRows,
): ClickWriter {
  const db = kyselyOver(new SqliteConnection(database))
  const rows = sqliteClickRows(database)
  const rawFiles = new RawClickFiles(rawClicksFolder(dataDir), rawRows)
  const marks = new BatchMarks(database)
  const numbers = new LinkNumbers(sqliteLinkSequence(database, dataDir))
  const owners = new OwnerCache(
    db,
    (linkSeqs) => sql<SqlBool>`seq in (select value from json_each(${JSON.stringify(linkSeqs)}))`,
  )
  /** One at a time on the connection, whoever drains. */
  const turns = new Turns()
  const ownerOf = (linkSeq: number) => owners.find(linkSeq)

  async function isStill({ journalId, from }: ClickBatch): Promise<boolean> {
    const position = await findPosition(db, journalId)
    return position?.segment === from?.segment && position?.offset === from?.offset
  }

  async function take(batch: ClickBatch): Promise<boolean> {
    const linkSeqs = batch.clicks.map(({ link_seq }) => link_seq)
    await numbers.keep(linkSeqs)
    await owners.load(linkSeqs)
    const growth = growthOf(batch.clicks, ownerOf)
    const rowsByDay = await rawFiles.insert({
      ...batch,
      ownerOf,
      isStill: () => isStill(batch),
      deadlineMs: BUSY_DEADLINE_MS,
    })
    if (rowsByDay === undefined) return false
    return inTransaction(database, BUSY_DEADLINE_MS, async () => {
      if (!(await movePosition(db, batch))) return false
      await rows.addToLinks(growth.counts)
      await foldDays({ db, rows }, await rows.appendToDays(growth.deltas))
      marks.noteBatch(rowsByDay, growth.counts)
      return true
    })
  }

  /** A few subjects at a time, so that clicks need not wait for all of them. */
  async function settleSome(today: number): Promise<number> {
    const days = await db
      .selectFrom('unsettled_days')
      .selectAll()
      .where('day', '<', today)
      .limit(SETTLE_MAX)
      .execute()
    if (days.length === 0) return 0
    await inTransaction(database, BUSY_DEADLINE_MS, () => settleDays({ db, rows }, days))
    return days.length
  }

  /** Noted first: a file that is missing without a note is a fault. */
  async function dropBefore(oldestDay: number): Promise<void> {
    await inTransaction(database, BUSY_DEADLINE_MS, () => marks.noteDrop(oldestDay))
    rawFiles.dropBefore(oldestDay)
  }

  async function settle(today: number): Promise<void> {
    while ((await turns.run(() => settleSome(today))) > 0) {
      // Some by some.
    }
  }

  return {
    batchMax: BATCH_MAX,
    findPosition: (journalId) => findPosition(db, journalId),

    take: (batch) => turns.run(() => take(batch)),

    async maintain(today, oldestDay) {
      await settle(today)
      if (oldestDay !== undefined) await turns.run(() => dropBefore(oldestDay))
    },

    close: () =>
      turns.run(async () => {
        rawFiles.close()
        database.close()
      }),
  }
}
