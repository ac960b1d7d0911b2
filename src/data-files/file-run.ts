import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { listRawDays, rawClicksFile, rawClicksFolder } from '../clicks/store/index.ts'
import { skipLinkNumbers } from '../links/store/index.ts'
import { hasLog, kyselyOver, openToRead, SqliteConnection } from '../storage/sqlite/connection.ts'
import { countedFile, sqliteFile } from '../storage/sqlite/data-files.ts'
import {
  type ClicksMark,
  type LinksMark,
  readClicksMark,
  readGivenNumbers,
  readLinksMark,
  writeClicksRun,
  writeLinksMark,
} from '../storage/sqlite/file-marks.ts'
import { inTransaction } from '../storage/sqlite/transaction.ts'
import { type Examination, filesIdentity, readDay, unfinishedBatches } from './examine-files.ts'

/** How long to wait for another process's lock. */
const BUSY_MS = 1_000
const READ_BUSY_MS = 2_500

/**
 * Marks both files with a new run, terse.db first, and makes new links start above all numbers in
 * clicks.db. Call it in the first process that opens the folder, before any other write.
 *
 * @param before the result of examining the files
 * @param isChecked whether a full check has just passed
 */
export async function beginRun(
  dataDir: string,
  before: Examination,
  { isChecked, lastCheckMs }: { isChecked: boolean; lastCheckMs: number },
): Promise<void> {
  const links = new DatabaseSync(sqliteFile(dataDir), { timeout: BUSY_MS })
  const clicks = new DatabaseSync(countedFile(dataDir), { timeout: BUSY_MS })
  try {
    for (const database of [links, clicks]) database.exec('pragma synchronous = full')
    const known = readClicksMark(clicks)
    if (known === undefined) throw new Error('clicks.db has no marks')
    if (before.mark === undefined) await write(clicks, () => countRawDays(clicks, dataDir))
    const run = Math.max(known.run, before.mark?.run ?? 0) + 1
    const uncheckedSinceMs = isChecked ? null : uncheckedSince(before, lastCheckMs)
    const mark: LinksMark = {
      run,
      runId: randomUUID(),
      clicksRunId: known.runId,
      isStopped: false,
      batches: known.batches,
      identity: filesIdentity(dataDir),
      uncheckedSinceMs,
    }
    await write(links, async () => {
      const db = kyselyOver(new SqliteConnection(links))
      await skipLinkNumbers(db, highestCountedLink(clicks, known))
      writeLinksMark(links, mark)
    })
    await write(clicks, () =>
      writeClicksRun(clicks, { ...known, run, runId: mark.runId, isStopped: false }),
    )
  } finally {
    clicks.close()
    links.close()
  }
}

/**
 * Marks both files with the end of their run, clicks.db first, and checkpoints the write-ahead logs
 * into the files. Call it in the last process that closes the folder, after it has closed its own
 * connections. A connection that still reads a file keeps that file's log in place.
 */
export async function endRun(dataDir: string): Promise<void> {
  const links = new DatabaseSync(sqliteFile(dataDir), { timeout: BUSY_MS })
  const clicks = new DatabaseSync(countedFile(dataDir), { timeout: BUSY_MS })
  try {
    for (const database of [links, clicks]) database.exec('pragma synchronous = full')
    const mark = readLinksMark(links)
    const known = readClicksMark(clicks)
    if (mark !== undefined && known !== undefined) {
      const { run, runId } = mark
      const { links: linksSeen, changes: changesSeen } = readGivenNumbers(links)
      const ended = { ...known, run, runId, linksSeen, changesSeen, isStopped: true }
      await write(clicks, () => writeClicksRun(clicks, ended))
      await write(links, () =>
        writeLinksMark(links, { ...mark, batches: known.batches, isStopped: true }),
      )
    }
    for (const database of [links, clicks]) database.exec('pragma wal_checkpoint(truncate)')
  } finally {
    // The last connection to a file removes its log.
    clicks.close()
    links.close()
  }
  const folder = rawClicksFolder(dataDir)
  for (const day of listRawDays(folder)) {
    const file = rawClicksFile(folder, day)
    if (hasLog(file)) checkpoint(file)
  }
}

function write(database: DatabaseSync, work: () => Promise<void> | void): Promise<void> {
  return inTransaction(database, BUSY_MS, work)
}

function checkpoint(file: string): void {
  const database = new DatabaseSync(file, { timeout: BUSY_MS })
  try {
    database.exec('pragma wal_checkpoint(truncate)')
  } finally {
    database.close()
  }
}

/**
 * Returns since when a full check is due, or null. One is due after a crash and for copies: pages
 * may be missing on disk.
 */
function uncheckedSince(
  { isStopped, isCopy, mark }: Examination,
  lastCheckMs: number,
): number | null {
  if (!isStopped || isCopy) return Date.now()
  const since = mark?.uncheckedSinceMs ?? null
  return since !== null && since < lastCheckMs ? null : since
}

/** Fills `raw_days` for a folder written by a program that did not maintain it. */
function countRawDays(clicks: DatabaseSync, dataDir: string): void {
  const folder = rawClicksFolder(dataDir)
  const positions = new Map(
    clicks
      .prepare('select * from journal_positions')
      .all()
      .map((row) => [
        String(row.journal_id),
        { segment: Number(row.segment), offset: Number(row.position) },
      ]),
  )
  const insert = clicks.prepare('insert or replace into raw_days (day, clicks) values (?, ?)')
  for (const day of listRawDays(folder)) {
    const database = openToRead(rawClicksFile(folder, day), READ_BUSY_MS)
    try {
      const facts = readDay(database, day)
      const unfinished = unfinishedBatches(positions, [facts])
      insert.run(day, facts.rows - unfinished.reduce((sum, batch) => sum + batch.rows, 0))
    } finally {
      database.close()
    }
  }
}

function highestCountedLink(clicks: DatabaseSync, { linksSeen }: ClicksMark): number {
  const row = clicks.prepare('select max(link_seq) as seq from link_clicks').get()
  return Math.max(linksSeen, Number(row?.seq ?? 0))
}

/** Before this version a checkpoint could corrupt the file (https://sqlite.org/wal.html#walresetbug). */
const SQLITE_VERSION_MIN = [3, 51, 3]

/**
 * Checks the version with an in-memory database: a version that is too old must not open the file.
 */
export function checkedVersion(): string {
  const database = new DatabaseSync(':memory:')
  const row = database.prepare('select sqlite_version() as version').get()
  database.close()
  const version = String(row?.version)
  const parts = version.split('.').map(Number)
  for (const [index, min] of SQLITE_VERSION_MIN.entries()) {
    const part = parts[index] ?? 0
    if (part > min) break
    if (part < min) {
      throw new Error(
        `SQLite ${version} has a bug that can damage the database; ${SQLITE_VERSION_MIN.join('.')} or newer is required. Use the Node.js that npm ci installs.`,
      )
    }
  }
  return version
}
