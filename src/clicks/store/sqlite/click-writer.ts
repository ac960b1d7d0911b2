import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Kysely, type SqlBool, sql } from 'kysely'
import { sqliteLinkSequence } from '../../../links/store/index.ts'
import { SerialQueue } from '../../../platform/work/async.ts'
import type { Schema } from '../../../storage/schema.ts'
import { kyselyOver, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import { attachForReading, countedFile, sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { translateError } from '../../../storage/sqlite/errors.ts'
import {
  type GivenNumbers,
  hasTable,
  readGivenNumbers,
} from '../../../storage/sqlite/file-marks.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { OpenFiles, syncLog } from '../../../storage/sqlite/write-ahead-log.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import type { ClickBatch, ClickWriter } from '../../click-writer.ts'
import { type SpoolReader, spoolReader } from '../../spool/spool-reader.ts'
import { computeBatchDeltas, OwnerCache, orderByLink } from '../batch-deltas.ts'
import {
  type BegunBatch,
  beginBatch,
  type ClickIntent,
  type ClickLedger,
  endBatch,
  findIntent,
  type PreparedBatch,
} from '../click-intents.ts'
import { clickSpoolStore } from '../click-spool-store.ts'
import { findPosition, type JournalPosition, movePosition } from '../click-store.ts'
import { type ClickRows, COUNTED_DAYS, foldDays, PARTS, SCOPES, settleDays } from '../fold-days.ts'
import { forgetLabels, KnownLabels } from '../known-labels.ts'
import { addLeasedClicks, dropUnleasedClicks } from '../leased-clicks.ts'
import type { RawClickQuota } from '../raw-click-quota.ts'
import type { ErasedClicks } from '../raw-click-source.ts'
import { personsIn } from './check-sums.ts'
import { sqliteClickRows } from './click-rows.ts'
import { listRawDays, RawClickFiles, rawClicksFile, rawClicksFolder } from './raw-click-files.ts'

/**
 * As many as a segment of the journal has, because clicks that share a page save page writes; about two seconds' work. No
 * release may lower it: a batch that is retried must not have fewer clicks.
 */
const BATCH_MAX = 250_000
const OPEN_DEADLINE_MS = 5_000
/** A batch of another process takes long on a slow disk. */
const BUSY_DEADLINE_MS = 30_000
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
export function openSqliteClickWriter(
  dataDir: string,
  options: WriterOptions,
): ClickWriter & ClickLedger {
  const database = new DatabaseSync(countedFile(dataDir), { timeout: OPEN_DEADLINE_MS })
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

class SqliteClickWriter implements ClickWriter, ClickLedger {
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
  readonly #labels: KnownLabels
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
    this.#labels = new KnownLabels(this.#db, {
      isAmong: (column, values) =>
        sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`,
      lockName: undefined,
      inTransaction: (work) => inTransaction(database, BUSY_DEADLINE_MS, () => work(this.#db)),
    })
    const file = countedFile(dataDir)
    this.#openFiles = new OpenFiles([file, `${file}-wal`])
  }

  findPosition(journalId: string): Promise<JournalPosition | undefined> {
    return findPosition(this.#db, journalId)
  }

  write(batch: ClickBatch): Promise<boolean> {
    return this.#queue.run(() => this.#write(batch))
  }

  findIntent(journalId: string): Promise<ClickIntent | undefined> {
    return findIntent(this.#db, journalId)
  }

  prepare(batch: ClickBatch): Promise<PreparedBatch> {
    return this.#queue.run(() => this.#prepare(batch))
  }

  begin(batch: ClickBatch): Promise<BegunBatch | undefined> {
    return this.#queue.run(() =>
      inTransaction(this.#database, BUSY_DEADLINE_MS, () => beginBatch(this.#db, batch)),
    )
  }

  commit(batch: ClickBatch, { deltas }: PreparedBatch): Promise<boolean> {
    return this.#queue.run(async () => {
      this.#openFiles.verify()
      const isCounted = await inTransaction(this.#database, BUSY_DEADLINE_MS, async () => {
        if (!(await movePosition(this.#db, batch))) return false
        await endBatch(this.#db, batch)
        await addLeasedClicks(this.#db, batch.journalId, deltas.limited)
        await this.#rows.addToLinks(deltas.counts)
        this.#marks.noteUncharted(deltas.persons)
        return true
      })
      // Before the journal is removed.
      this.#openFiles.verify()
      return isCounted
    })
  }

  async maintain(today: number, oldestDay: number | undefined): Promise<void> {
    let settled: number
    do settled = await this.#queue.run(() => this.#settleSome(today))
    while (settled > 0)
    await this.#queue.run(async () => this.#rawFiles.closeBefore(today))
    await this.#queue.run(() =>
      inTransaction(this.#database, BUSY_DEADLINE_MS, () => dropUnleasedClicks(this.#db)),
    )
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
    await this.#queue.run(() => forgetLabels(this.#db, erased.workspaceId))
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

  async #prepare(batch: ClickBatch): Promise<PreparedBatch> {
    const order = orderByLink(batch.clicks)
    const ownerOf = await this.#owners.load(batch.clicks, order)
    await this.#labels.settle(batch, ownerOf)
    return { ownerOf, deltas: computeBatchDeltas(batch, ownerOf, order) }
  }

  async #write(batch: ClickBatch): Promise<boolean> {
    this.#openFiles.verify()
    const {
      ownerOf,
      deltas: { counts, deltas, ...sums },
    } = await this.#prepare(batch)
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
      await addLeasedClicks(this.#db, batch.journalId, sums.limited)
      await this.#rows.addToLinks(counts)
      const grown = await this.#rows.appendToDays(deltas)
      await foldDays({ db: this.#db, rows: this.#rows }, grown)
      this.#marks.noteBatch(rowsByDay, sums.persons)
      return true
    })
    // Before the journal is removed.
    this.#openFiles.verify()
    if (isIngested) this.#options.onWithoutLink(sums.withoutLink)
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

/** Opening balances are on an earlier day, which has no file. */
const FIRST_DAY = 0

/**
 * Records each batch in clicks.db, within the batch's transaction. From these marks src/data-files/examine-files.ts determines
 * whether the files of a data folder belong together. terse.db is attached as `terse`. Reads of it also see what is
 * not on disk yet, so that is synced before clicks.db records that it has seen it.
 */
class BatchMarks {
  readonly #database: DatabaseSync
  readonly #syncLinks: () => void
  readonly #noteBatch
  readonly #noteDay
  readonly #noteDrop
  readonly #forgetDays
  readonly #findDrop
  readonly #noteUncharted
  /** The numbers of terse.db that are known to be on disk. */
  #synced: GivenNumbers = { links: 0, changes: 0 }

  /** @param syncLinks returns when everything that was committed to terse.db is on disk */
  constructor(database: DatabaseSync, syncLinks: () => void) {
    this.#database = database
    this.#syncLinks = syncLinks
    this.#noteBatch = database.prepare(
      `update file_marks set batches = batches + 1, clicks = clicks + ?, changes_seen = ?, links_seen = ?`,
    )
    this.#noteDay = database.prepare(
      `insert into raw_days (day, clicks) values (?, ?)
       on conflict do update set clicks = clicks + excluded.clicks`,
    )
    this.#noteDrop = database.prepare(
      'update file_marks set dropped_before = max(coalesce(dropped_before, ?1), ?1)',
    )
    this.#findDrop = database.prepare('select dropped_before from file_marks')
    this.#noteUncharted = database.prepare('update uncharted_clicks set clicks = clicks + ?')
    this.#forgetDays = database.prepare('delete from raw_days where day < ?')
  }

  /**
   * @param rowsByDay the number of rows of the batch in each day's file
   * @param clicks what the batch adds to all links' counters
   */
  noteBatch(rowsByDay: ReadonlyMap<number, number>, clicks: number): void {
    const seen = readGivenNumbers(this.#database, 'terse')
    if (seen.links !== this.#synced.links || seen.changes !== this.#synced.changes) {
      this.#syncLinks()
      this.#synced = seen
    }
    this.#noteBatch.run(clicks, seen.changes, seen.links)
    for (const [day, rows] of rowsByDay) this.#noteDay.run(day, rows)
  }

  /** The same for a batch whose clicks are in ClickHouse. */
  noteUncharted(clicks: number): void {
    this.noteBatch(new Map(), clicks)
    this.#noteUncharted.run(clicks)
  }

  /** Returns the first day whose file is kept; it never moves back. */
  oldestDay(): number {
    return Number(this.#findDrop.get()?.dropped_before ?? FIRST_DAY)
  }

  /** Records that files of earlier days may be missing from now on. */
  noteDrop(oldestDay: number): void {
    this.#noteDrop.run(oldestDay)
    this.#forgetDays.run(oldestDay)
  }
}

/** Rows of a day's file that are looked at in one transaction. */
const ROWS_PER_STEP = 20_000

/** The days with counts, ascending. */
function listCountedDays(database: DatabaseSync): readonly number[] {
  return database
    .prepare(COUNTED_DAYS)
    .all()
    .map(({ day }) => Number(day))
}

/**
 * Deletes the counters and charts of links, within a transaction. The sums that a check of the file compares
 * (check-sums.ts) stay equal: the links' charts lose as much as the counters, those of domains and workspaces
 * keep what was counted.
 */
function eraseLinkRows(database: DatabaseSync, linkSeqs: readonly number[]): void {
  const among = 'in (select value from json_each(?))'
  const seqs = JSON.stringify(linkSeqs)
  database.prepare(`delete from leased_clicks where link_seq ${among}`).run(seqs)
  const counters = database
    .prepare(`delete from link_clicks where link_seq ${among} returning clicks`)
    .all(seqs)
  const ofDay = `day = ? and scope = ${SCOPES.link} and subject ${among}`
  const deletes = [
    database.prepare(`delete from click_days where ${ofDay} returning part, data`),
    database.prepare(`delete from unsettled_days where ${ofDay}`),
    database.prepare(`delete from returned_tallies where ${ofDay}`),
  ]
  let charted = 0
  for (const day of listCountedDays(database)) {
    for (const statement of deletes) charted += personsOf(statement.all(day, seqs))
  }
  const clicks = counters.reduce((sum, row) => sum + Number(row.clicks), 0)
  database
    .prepare(
      `update file_marks set clicks = clicks - ?1,
         domain_offset = domain_offset + ?2, workspace_offset = workspace_offset + ?2`,
    )
    .run(clicks, charted)
  database.prepare('update uncharted_clicks set clicks = clicks - ?').run(clicks - charted)
}

/** Returns people's clicks in rows of `click_days`. */
function personsOf(rows: readonly Record<string, unknown>[]): number {
  return rows
    .filter(({ part }) => part === PARTS.recent || part === PARTS.total)
    .reduce((sum, { part, data }) => sum + personsIn(Number(part), data), 0)
}

/** Deletes the charts of a workspace and of its domains on one day, within a transaction. */
function eraseWorkspaceDay(database: DatabaseSync, day: number, workspaceId: string): void {
  const erase = (scope: number): number => {
    const ofScope = 'day = ? and scope = ? and workspace_id = ?'
    for (const table of ['unsettled_days', 'returned_tallies']) {
      database.prepare(`delete from ${table} where ${ofScope}`).run(day, scope, workspaceId)
    }
    return personsOf(
      database
        .prepare(`delete from click_days where ${ofScope} returning part, data`)
        .all(day, scope, workspaceId),
    )
  }
  const ofDomains = erase(SCOPES.domain)
  const ofWorkspace = erase(SCOPES.workspace)
  if (ofDomains === 0 && ofWorkspace === 0) return
  database
    .prepare(
      `update file_marks set domain_offset = domain_offset - ?,
         workspace_offset = workspace_offset - ?`,
    )
    .run(ofDomains, ofWorkspace)
}

/**
 * Empties the raw clicks of a workspace in a day's file. The rows stay: that none is missing shows that a file is
 * whole.
 */
async function eraseRawClicks(
  folder: string,
  day: number,
  workspaceId: string,
  deadlineMs: number,
): Promise<void> {
  const name = rawClicksFile(folder, day)
  if (!existsSync(name)) return
  const file = new DatabaseSync(name, { timeout: deadlineMs })
  try {
    // Overwrites the old content instead of leaving it in unused bytes.
    file.exec('pragma secure_delete = on; pragma synchronous = full; pragma busy_timeout = 0')
    if (!hasTable(file, 'main', 'workspaces')) return
    const found = file.prepare('select number from workspaces where id = ?').get(workspaceId)
    if (found === undefined) return
    const last = Number(
      file.prepare('select coalesce(max(rowid), 0) as last from clicks').get()?.last,
    )
    const empty = file.prepare(
      `update clicks set link_seq = 0, workspace = null, keyspace_id = null, visitor = 0,
         ${CLICK_DIMENSIONS.map((dimension) => `${dimension} = ''`).join()}
       where rowid > ? and rowid <= ? and workspace = ?`,
    )
    for (let after = 0; after < last; after += ROWS_PER_STEP) {
      const step = [after, after + ROWS_PER_STEP, Number(found.number)] as const
      await inTransaction(file, deadlineMs, () => empty.run(...step))
    }
    if (hasTable(file, 'main', 'returned_clicks')) {
      const remove = file.prepare('delete from returned_clicks where workspace = ?')
      await inTransaction(file, deadlineMs, () => remove.run(Number(found.number)))
    }
    await inTransaction(file, deadlineMs, () =>
      file
        .prepare(`update workspaces set id = 'erased ' || number where number = ?`)
        .run(Number(found.number)),
    )
  } finally {
    file.close()
  }
}
