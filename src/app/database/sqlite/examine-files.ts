import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { JournalPosition } from '../../../clicks/store/click-store.ts'
import { checkClickSums } from '../../../clicks/store/sqlite/check-sums.ts'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../../clicks/store/sqlite/raw-click-days.ts'
import { formatDay } from '../../../clicks/tally/click-day.ts'
import {
  CLICKS_FILE,
  DAYS_FOLDER,
  type FileFault,
  LINKS_FILE,
} from '../../../platform/database/file-fault.ts'
import { countedFile, sqliteFile } from '../../../platform/database/sqlite/data-files.ts'
import { textOf } from '../../../platform/database/sqlite/errors.ts'
import {
  hasTable,
  type LinksMark,
  readClicksMark,
  readGivenNumbers,
  readLinksMark,
} from '../../../platform/database/sqlite/file-marks.ts'
import { openToRead } from '../../../platform/database/sqlite/open-to-read.ts'
import { type DayFacts, type FileFacts, judgeFiles, unfinishedBatches } from './judge-files.ts'

const TIMEOUT_MS = 2_500

/** How many clicks a journal holds from a position on, as far as it can be read. */
export type ClicksAfter = (journalId: string, from: JournalPosition) => number

export type Examination = {
  readonly faults: readonly FileFault[]
  readonly mark: LinksMark | undefined
  /** Whether the last run ended by a stop. True for a folder that no run has marked yet. */
  readonly isStopped: boolean
  /** Whether these are copies of the files that the last run had. */
  readonly isCopy: boolean
}

const NOTHING: Examination = { faults: [], mark: undefined, isStopped: true, isCopy: false }

/**
 * Looks whether the files of a data folder belong together. No process may be writing to them. Takes a
 * fraction of a second; where the last run ended by a crash, the links' counters are summed up too.
 *
 * @param clicksAfter looks into the journals; of a copy they must hold what only a day's file has
 */
export function examineFiles(dataDir: string, clicksAfter?: ClicksAfter): Examination {
  const file = sqliteFile(dataDir)
  if (!existsSync(file)) return { ...NOTHING, faults: withoutLinks(dataDir) }
  const facts = gather(dataDir)
  if (!('links' in facts)) return { ...NOTHING, faults: [facts] }
  const { mark } = facts.links
  const isStopped = mark?.isStopped !== false
  const isCopy = mark !== undefined && mark.identity !== filesIdentity(dataDir)
  const faults = [...judgeFiles(facts)]
  if (!isStopped && faults.length === 0) faults.push(...differentSums(dataDir))
  if (isCopy && clicksAfter !== undefined) faults.push(...missingClicks(facts, clicksAfter))
  return { faults, mark, isStopped, isCopy }
}

function differentSums(dataDir: string): FileFault[] {
  try {
    return reading(countedFile(dataDir), (database) => checkClickSums(database, { isFull: false }))
  } catch (error) {
    return [{ file: CLICKS_FILE, kind: 'damaged', text: textOf(error) }]
  }
}

/** Tells the files from copies of them. */
export function filesIdentity(dataDir: string): string {
  return [sqliteFile(dataDir), countedFile(dataDir)]
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((stats) => (stats === undefined ? 'none' : `${stats.ino}-${stats.birthtimeMs}`))
    .join(' ')
}

function withoutLinks(dataDir: string): FileFault[] {
  const days = listRawDays(rawClicksFolder(dataDir))
  if (!existsSync(countedFile(dataDir)) && days.length === 0) return []
  return [{ file: LINKS_FILE, kind: 'missing', text: 'it is not there, but files of clicks are' }]
}

/** The first file that cannot be read, in the place of facts. */
function gather(dataDir: string): FileFacts | FileFault {
  const days: DayFacts[] = []
  let current = LINKS_FILE
  try {
    const links = reading(sqliteFile(dataDir), (database) => ({
      mark: readLinksMark(database),
      given: readGivenNumbers(database),
      isMade: isMade(database),
    }))
    current = CLICKS_FILE
    if (!existsSync(countedFile(dataDir))) {
      if (links.isMade) return { file: current, kind: 'missing', text: 'it holds what was counted' }
      const clicks = { mark: undefined, positions: new Map(), rawDays: new Map() }
      return { links, clicks, days }
    }
    const clicks = reading(countedFile(dataDir), readCounted)
    const folder = rawClicksFolder(dataDir)
    for (const day of clicks.mark === undefined ? [] : listRawDays(folder)) {
      current = `${DAYS_FOLDER}/${formatDay(day)}.db`
      days.push(reading(rawClicksFile(folder, day), (database) => readDay(database, day)))
    }
    return { links, clicks, days }
  } catch (error) {
    return { file: current, kind: 'damaged', text: textOf(error) }
  }
}

/** Whether terse.db has a schema: clicks.db is made before that. */
function isMade(database: DatabaseSync): boolean {
  if (!hasTable(database, 'main', 'schema_migrations')) return false
  return database.prepare('select 1 from schema_migrations').get() !== undefined
}

function reading<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = openToRead(file, TIMEOUT_MS)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** What clicks.db says; nothing where it has no marks. */
export function readCounted(database: DatabaseSync): FileFacts['clicks'] {
  const mark = readClicksMark(database)
  const positions = new Map<string, JournalPosition>()
  const rawDays = new Map<number, number>()
  if (mark === undefined) return { mark, positions, rawDays }
  for (const row of database.prepare('select * from journal_positions').iterate()) {
    const place = { segment: Number(row.segment), offset: Number(row.position) }
    positions.set(String(row.journal_id), place)
  }
  for (const row of database.prepare('select day, clicks from raw_days').iterate()) {
    rawDays.set(Number(row.day), Number(row.clicks))
  }
  return { mark, positions, rawDays }
}

/** What a day's file says. One that a crash has left before its tables were made is empty. */
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
      // Before rows stood for several clicks, there was one for each.
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
