import { DatabaseSync } from 'node:sqlite'
import { type Kysely, type SqlBool, sql } from 'kysely'
import { sqliteLinkSequence } from '../../../links/store/index.ts'
import { SerialQueue } from '../../../platform/work/async.ts'
import type { Schema } from '../../../storage/schema.ts'
import { kyselyOver, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import { attachForReading, countedFile, sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { translateError } from '../../../storage/sqlite/errors.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { OpenFiles, syncLog } from '../../../storage/sqlite/write-ahead-log.ts'
import type { ClickBatch, ClickWriter } from '../../click-writer.ts'
import { type SpoolReader, spoolReader } from '../../spool/spool-reader.ts'
import { computeBatchDeltas } from '../batch-deltas.ts'
import type { ClickRows } from '../click-day-rows.ts'
import { clickSpoolStore } from '../click-spool-store.ts'
import { findPosition, type JournalPosition, movePosition } from '../click-store.ts'
import { foldDays, settleDays } from '../fold-days.ts'
import { OwnerCache } from '../owner-cache.ts'
import type { RawClickQuota } from '../raw-click-quota.ts'
import type { ErasedClicks } from '../raw-click-source.ts'
import { BatchMarks } from './batch-marks.ts'
import { sqliteClickRows } from './click-rows.ts'
import {
  eraseLinkRows,
  eraseRawClicks,
  eraseWorkspaceDay,
  listCountedDays,
} from './erase-clicks.ts'
import { RawClickFiles } from './raw-click-files.ts'
import { listRawDays, rawClicksFolder } from './raw-click-source.ts'

/**
 * Large, because clicks that share a page save page writes; about half a second's work. No release may lower it: a batch
 * that is retried must not have fewer clicks.
 */
const BATCH_MAX = 40_000
const BUSY_DEADLINE_MS = 5_000
/** Small, because a large batch goes through more pages than would fit, in order, and finds none of them again. */
const PAGE_CACHE_KIB = 8 * 1024
/**
 * Pages in the write-ahead log before a checkpoint, 32 MiB. One large batch writes more than that, so it is followed by a
 * checkpoint: in a small container a log of two such batches, 190 MB, would leave the file itself no page cache.
 */
const CHECKPOINT_PAGES = 8_000
/** Days settled per transaction, so that clicks need not wait for all of them. */
const SETTLE_MAX = 16

type WriterOptions = {
  readonly rawQuota: RawClickQuota
  readonly onWithoutLink: (visits: number) => void
}

/** Opens clicks.db of a data folder, which must be migrated. */
export function openSqliteClickWriter(dataDir: string, options: WriterOptions): ClickWriter {
  const database = new DatabaseSync(countedFile(dataDir), { timeout: BUSY_DEADLINE_MS })
  try {
    database.exec(`
      pragma synchronous = full;
      pragma secure_delete = on;
      pragma cache_size = -${PAGE_CACHE_KIB};
      pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
    `)
    attachForReading(database, { file: sqliteFile(dataDir), name: 'terse' })
    // From here on `inTransaction` waits for locks, without blocking the thread.
    database.exec('pragma busy_timeout = 0')
    return new SqliteClickWriter(database, dataDir, options)
  } catch (error) {
    database.close()
    throw translateError(error, dataDir)
  }
}

class SqliteClickWriter implements ClickWriter {
  readonly batchMax = BATCH_MAX
  readonly spools: SpoolReader
  readonly #database: DatabaseSync
  readonly #db: Kysely<Schema>
  readonly #rows: ClickRows
  /** The folder of the files of raw clicks. */
  readonly #folder: string
  readonly #rawFiles: RawClickFiles
  readonly #marks: BatchMarks
  readonly #owners: OwnerCache
  readonly #options: WriterOptions
  readonly #openFiles: OpenFiles
  /** Serializes operations: the connection has one transaction at a time. */
  readonly #queue = new SerialQueue()

  constructor(database: DatabaseSync, dataDir: string, options: WriterOptions) {
    this.#options = options
    this.#database = database
    this.#db = kyselyOver(new SqliteConnection(database))
    this.spools = spoolReader(clickSpoolStore(this.#db))
    this.#rows = sqliteClickRows(database)
    this.#folder = rawClicksFolder(dataDir)
    this.#rawFiles = new RawClickFiles(this.#folder, options.rawQuota)
    this.#marks = new BatchMarks(database, () => syncLog(sqliteFile(dataDir)))
    this.#owners = new OwnerCache(
      this.#db,
      sqliteLinkSequence(database, dataDir),
      (linkSeqs) => sql<SqlBool>`seq in (select value from json_each(${JSON.stringify(linkSeqs)}))`,
    )
    const file = countedFile(dataDir)
    this.#openFiles = new OpenFiles([file, `${file}-wal`])
  }

  findPosition(journalId: string): Promise<JournalPosition | undefined> {
    return findPosition(this.#db, journalId)
  }

  write(batch: ClickBatch): Promise<boolean> {
    return this.#queue.run(() => this.#write(batch))
  }

  async maintain(today: number, oldestDay: number | undefined): Promise<void> {
    let settled: number
    do settled = await this.#queue.run(() => this.#settleSome(today))
    while (settled > 0)
    await this.#queue.run(async () => this.#rawFiles.closeBefore(today))
    if (oldestDay !== undefined) await this.#queue.run(() => this.#dropBefore(oldestDay))
  }

  async erase(erased: ErasedClicks): Promise<void> {
    if (erased.kind === 'links') {
      await this.#run(() => eraseLinkRows(this.#database, erased.linkSeqs))
      return
    }
    for (const day of listCountedDays(this.#database)) {
      await this.#run(() => eraseWorkspaceDay(this.#database, day, erased.workspaceId))
    }
    for (const day of listRawDays(this.#folder)) {
      await eraseRawClicks(this.#folder, day, erased.workspaceId, BUSY_DEADLINE_MS)
    }
  }

  close(): Promise<void> {
    return this.#queue.run(async () => {
      this.#rawFiles.close()
      this.#database.close()
    })
  }

  async #write(batch: ClickBatch): Promise<boolean> {
    this.#openFiles.verify()
    const ownerOf = await this.#owners.load(batch.clicks)
    const { counts, deltas, withoutLink } = computeBatchDeltas(batch, ownerOf)
    const rowsByDay = await this.#rawFiles.insert({
      ...batch,
      ownerOf,
      isCurrent: () => this.#isCurrent(batch),
      deadlineMs: BUSY_DEADLINE_MS,
      oldestDay: batch.imported === undefined ? Number.NEGATIVE_INFINITY : this.#marks.oldestDay(),
    })
    if (rowsByDay === undefined) return false
    const isIngested = await inTransaction(this.#database, BUSY_DEADLINE_MS, async () => {
      if (!(await movePosition(this.#db, batch))) return false
      await this.#rows.addToLinks(counts)
      const grown = await this.#rows.appendToDays(deltas)
      await foldDays({ db: this.#db, rows: this.#rows }, grown)
      this.#marks.noteBatch(rowsByDay, counts)
      return true
    })
    // Before the journal is removed.
    this.#openFiles.verify()
    if (isIngested) this.#options.onWithoutLink(withoutLink)
    return isIngested
  }

  /** Runs `work` in a transaction, between batches. */
  #run(work: () => void): Promise<void> {
    return this.#queue.run(() => inTransaction(this.#database, BUSY_DEADLINE_MS, work))
  }

  /** Whether the journal's position is still the one at which the batch begins. */
  async #isCurrent({ journalId, from }: ClickBatch): Promise<boolean> {
    const position = await this.findPosition(journalId)
    return position?.segment === from?.segment && position?.offset === from?.offset
  }

  /** Settles a few days, and returns how many. */
  async #settleSome(today: number): Promise<number> {
    const days = await this.#db
      .selectFrom('unsettled_days')
      .selectAll()
      .where('day', '<', today)
      .limit(SETTLE_MAX)
      .execute()
    if (days.length === 0) return 0
    await inTransaction(this.#database, BUSY_DEADLINE_MS, () =>
      settleDays({ db: this.#db, rows: this.#rows }, days),
    )
    return days.length
  }

  async #dropBefore(oldestDay: number): Promise<void> {
    // Recorded before the files are removed: a file that is missing without a record is a fault.
    await inTransaction(this.#database, BUSY_DEADLINE_MS, () => this.#marks.noteDrop(oldestDay))
    this.#rawFiles.dropBefore(oldestDay)
  }
}
