import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { JournalPosition } from '../../../clicks/store/click-store.ts'
import { checkClickSums } from '../../../clicks/store/sqlite/check-sums.ts'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../../clicks/store/sqlite/raw-click-files.ts'
import { formatDay } from '../../../clicks/tally/click-day.ts'
import {
  CLICKS_FILE,
  DAYS_FOLDER,
  type FileFault,
  LINKS_FILE,
} from '../../../storage/file-fault.ts'
import { openToRead } from '../../../storage/sqlite/connection.ts'
import { countedFile, sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { textOf } from '../../../storage/sqlite/errors.ts'
import {
  hasTable,
  type LinksMark,
  readClicksMark,
  readGivenNumbers,
  readLinksMark,
} from '../../../storage/sqlite/file-marks.ts'
import { type DayFacts, type FileFacts, judgeFiles, unfinishedBatches } from './judge-files.ts'
import { spooledClicksAfter } from './spool-positions.ts'

const TIMEOUT_MS = 2_500

/** Returns the number of readable clicks in a journal from a position on. */
export type ClicksAfter = (journalId: string, from: JournalPosition) => number

export type Examination = {
  readonly faults: readonly FileFault[]
  readonly mark: LinksMark | undefined
  /** Whether the last run ended with an orderly stop. True for an unmarked folder. */
  readonly isStopped: boolean
  /** Whether the files are copies of those that the last run used. */
  readonly isCopy: boolean
}

const EMPTY: Examination = { faults: [], mark: undefined, isStopped: true, isCopy: false }

/**
 * Checks whether the files of a data folder belong together. No process may be writing to them.
 * Takes a fraction of a second; after a crash it also sums up the links' counters.
 *
 * @param clicksAfter reads the journals. In a copied folder they, or the spools of imports, must contain
 *   the clicks that are in a day's file but not yet in clicks.db.
 */
export function examineFiles(dataDir: string, clicksAfter?: ClicksAfter): Examination {
  const file = sqliteFile(dataDir)
  if (!existsSync(file)) return { ...EMPTY, faults: withoutLinks(dataDir) }
  const facts = gather(dataDir)
  if (!('links' in facts)) return { ...EMPTY, faults: [facts] }
  const { mark } = facts.links
  const isStopped = mark?.isStopped !== false
  const isCopy = mark !== undefined && mark.identity !== filesIdentity(dataDir)
  const faults = [...judgeFiles(facts)]
  if (!isStopped && faults.length === 0) faults.push(...differentSums(dataDir))
  if (isCopy && clicksAfter !== undefined) {
    const after: ClicksAfter = (id, from) =>
      spooledClicksAfter(dataDir, id, from) ?? clicksAfter(id, from)
    faults.push(...missingClicks(facts, after))
  }
  return { faults, mark, isStopped, isCopy }
}

function differentSums(dataDir: string): FileFault[] {
  try {
    return withFile(countedFile(dataDir), (database) => checkClickSums(database, { isFull: false }))
  } catch (error) {
    return [{ file: CLICKS_FILE, kind: 'damaged', text: textOf(error) }]
  }
}

/** Returns an identity of the physical files, by which copies are recognised. */
export function filesIdentity(dataDir: string): string {
  return [sqliteFile(dataDir), countedFile(dataDir)]
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((stats) => (stats === undefined ? 'none' : `${stats.ino}-${stats.birthtimeMs}`))
    .join(' ')
}

function withoutLinks(dataDir: string): FileFault[] {
  const days = listRawDays(rawClicksFolder(dataDir))
  if (!existsSync(countedFile(dataDir)) && days.length === 0) return []
  return [{ file: LINKS_FILE, kind: 'missing', text: 'it is missing, but files of clicks exist' }]
}

/** Reads the facts of all files, or returns the fault of the first file that cannot be read. */
function gather(dataDir: string): FileFacts | FileFault {
  const days: DayFacts[] = []
  let current = LINKS_FILE
  try {
    const links = withFile(sqliteFile(dataDir), (database) => ({
      mark: readLinksMark(database),
      given: readGivenNumbers(database),
      hasSchema: hasSchema(database),
    }))
    current = CLICKS_FILE
    if (!existsSync(countedFile(dataDir))) {
      if (links.hasSchema)
        return { file: current, kind: 'missing', text: 'it holds the counted clicks' }
      const clicks = { mark: undefined, positions: new Map(), rawDays: new Map() }
      return { links, clicks, days }
    }
    const clicks = withFile(countedFile(dataDir), readCounted)
    const folder = rawClicksFolder(dataDir)
    for (const day of clicks.mark === undefined ? [] : listRawDays(folder)) {
      current = `${DAYS_FOLDER}/${formatDay(day)}.db`
      days.push(withFile(rawClicksFile(folder, day), (database) => readDay(database, day)))
    }
    return { links, clicks, days }
  } catch (error) {
    return { file: current, kind: 'damaged', text: textOf(error) }
  }
}

/** Whether terse.db has a schema. clicks.db is created earlier, so it must then exist. */
function hasSchema(database: DatabaseSync): boolean {
  if (!hasTable(database, 'main', 'schema_migrations')) return false
  return database.prepare('select 1 from schema_migrations').get() !== undefined
}

function withFile<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = openToRead(file, TIMEOUT_MS)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Reads the mark, journal positions and counted rows of clicks.db; empty when it has no mark. */
export function readCounted(database: DatabaseSync): FileFacts['clicks'] {
  const mark = readClicksMark(database)
  const positions = new Map<string, JournalPosition>()
  const rawDays = new Map<number, number>()
  if (mark === undefined) return { mark, positions, rawDays }
  for (const row of database.prepare('select * from journal_positions').iterate()) {
    const position = { segment: Number(row.segment), offset: Number(row.position) }
    positions.set(String(row.journal_id), position)
  }
  for (const row of database.prepare('select day, clicks from raw_days').iterate()) {
    rawDays.set(Number(row.day), Number(row.clicks))
  }
  return { mark, positions, rawDays }
}

/** Reads the facts of a day's file. A crash before its tables were created leaves it empty. */
export function readDay(database: DatabaseSync, day: number): DayFacts {
  if (!hasTable(database, 'main', 'taken')) return { day, rows: 0, taken: [] }
  const last = database.prepare('select max(rowid) as row from clicks').get()
  const taken = database.prepare('select * from taken').all()
  return {
    day,
    // Rows are only ever appended.
    rows: Number(last?.row ?? 0),
    taken: taken.map((row) => ({
      journalId: String(row.journal_id),
      segment: Number(row.segment),
      offset: Number(row.position),
      clicks: Number(row.clicks),
      // Files of older programs have one row for each click.
      rows: Number(row.rows ?? row.clicks),
    })),
  }
}

function missingClicks(facts: FileFacts, clicksAfter: ClicksAfter): FileFault[] {
  return unfinishedBatches(facts.clicks.positions, facts.days).flatMap(
    ({ journalId, from, clicks }) => {
      const lacking = clicks - clicksAfter(journalId, from)
      if (lacking <= 0) return []
      const text = `it lacks ${lacking} clicks that are in a file of ${DAYS_FOLDER}/`
      return [{ file: `journal/${journalId}`, kind: 'older', text }]
    },
  )
}
