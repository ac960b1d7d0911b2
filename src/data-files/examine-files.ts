import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { formatDay } from '../clicks/index.ts'
import {
  checkClickSums,
  clickSpoolStore,
  type JournalPosition,
  listRawDays,
  OPENING_BUCKET,
  rawClicksFile,
  rawClicksFolder,
  spoolReader,
} from '../clicks/store/index.ts'
import { CLICKS_FILE, DAYS_FOLDER, type FileFault, LINKS_FILE } from '../storage/file-fault.ts'
import { kyselyOver, openToRead, SqliteConnection } from '../storage/sqlite/connection.ts'
import { countedFile, sqliteFile } from '../storage/sqlite/data-files.ts'
import { textOf } from '../storage/sqlite/errors.ts'
import {
  type ClicksMark,
  type GivenNumbers,
  hasTable,
  type LinksMark,
  readClicksMark,
  readGivenNumbers,
  readLinksMark,
} from '../storage/sqlite/file-marks.ts'

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

/** The facts that the files of a data folder record about themselves and each other. */
type FileFacts = {
  readonly links: { readonly mark: LinksMark | undefined; readonly given: GivenNumbers }
  readonly clicks: {
    readonly mark: ClicksMark | undefined
    readonly positions: ReadonlyMap<string, JournalPosition>
    /** The number of counted raw click rows, by day. */
    readonly rawDays: ReadonlyMap<number, number>
  }
  /** The raw click files. */
  readonly days: readonly DayFacts[]
}

export type DayFacts = {
  readonly day: number
  readonly rows: number
  /** For each journal, its last batch with clicks of this day: the number of clicks and of rows. */
  readonly taken: readonly TakenBatch[]
}

type TakenBatch = JournalPosition & {
  readonly journalId: string
  readonly clicks: number
  readonly rows: number
}

/** A batch whose raw clicks are in a day's file but not yet counted in clicks.db. */
type UnfinishedBatch = {
  readonly journalId: string
  readonly from: JournalPosition
  readonly clicks: number
  readonly rows: number
}

/** The position in a journal from which nothing has been ingested. */
export const BEGINNING: JournalPosition = { segment: 0, offset: 0 }

/**
 * Returns the contradictions between files that are each intact. Checks only invariants that
 * survive crashes and power cuts: each file is synced to disk before another one refers to its
 * data.
 */
function judgeFiles({ links, clicks, days }: FileFacts): readonly FileFault[] {
  if (links.mark === undefined && (clicks.mark?.runId ?? null) === null) return []
  if (links.mark === undefined) {
    const text = 'it was never opened together with this clicks.db, which is newer'
    return [{ file: LINKS_FILE, kind: 'older', text }]
  }
  if (clicks.mark === undefined) {
    const text = 'it was written before terse.db was last opened'
    return [{ file: CLICKS_FILE, kind: 'older', text }]
  }
  const fault = judgeRuns(links.mark, clicks.mark) ?? judgeNumbers(links, clicks.mark)
  const { droppedBefore } = clicks.mark
  const isKept = (day: number) => droppedBefore === null || day >= droppedBefore
  const found = days.filter(({ day }) => isKept(day))
  const present = new Set(found.map(({ day }) => day))
  const missing = [...clicks.rawDays].filter(
    ([day, count]) => count > 0 && isKept(day) && !present.has(day),
  )
  return [
    ...(fault === undefined ? [] : [fault]),
    ...missing.map(([day, count]) => missingDay(day, count)),
    ...found.flatMap((facts) => judgeDay(facts, clicks) ?? []),
  ]
}

/**
 * Returns the batches that a crash left written to days' files but not counted, summed over the
 * days.
 */
export function unfinishedBatches(
  positions: FileFacts['clicks']['positions'],
  days: readonly DayFacts[],
): readonly UnfinishedBatch[] {
  const batches = new Map<string, UnfinishedBatch>()
  for (const { journalId, clicks, rows, ...from } of days.flatMap(({ taken }) => taken)) {
    const position = positions.get(journalId) ?? BEGINNING
    if (comparePositions(from, position) !== 0 || clicks === 0) continue
    const before = batches.get(journalId) ?? { clicks: 0, rows: 0 }
    const sum = { clicks: before.clicks + clicks, rows: before.rows + rows }
    batches.set(journalId, { journalId, from, ...sum })
  }
  return [...batches.values()]
}

export function comparePositions(a: JournalPosition, b: JournalPosition): number {
  return a.segment - b.segment || a.offset - b.offset
}

function judgeRuns(links: LinksMark, clicks: ClicksMark): FileFault | undefined {
  const isSame = clicks.runId === links.runId
  // A run is marked in terse.db first; a crash or a full disk may have prevented the mark in
  // clicks.db.
  const isBeginning = clicks.runId === links.clicksRunId && !links.isStopped
  if (!isSame && !isBeginning) {
    const runs = `it is of run ${links.run}, clicks.db of run ${clicks.run}`
    if (clicks.run > links.run) return { file: LINKS_FILE, kind: 'older', text: runs }
    const text =
      clicks.run < links.run
        ? `it is of run ${clicks.run}, terse.db of run ${links.run}`
        : `it is of another copy of the data folder than terse.db (both of run ${links.run})`
    return { file: CLICKS_FILE, kind: 'older', text }
  }
  // The end of a run is written to clicks.db before it is written to terse.db.
  if (links.isStopped && !clicks.isStopped) {
    const text = 'it is from before the end of the last run, terse.db from after it'
    return { file: CLICKS_FILE, kind: 'older', text }
  }
  return undefined
}

function judgeNumbers(
  { mark, given }: FileFacts['links'],
  clicks: ClicksMark,
): FileFault | undefined {
  const batches = mark?.batches ?? 0
  if (clicks.batches < batches) {
    const text = `it has ingested ${clicks.batches} batches of clicks, but terse.db refers to ${batches}`
    return { file: CLICKS_FILE, kind: 'older', text }
  }
  if (given.changes < clicks.changesSeen || given.links < clicks.linksSeen) {
    const lacking = [
      `${Math.max(0, clicks.changesSeen - given.changes)} changes`,
      `${Math.max(0, clicks.linksSeen - given.links)} links`,
    ].join(' and ')
    return { file: LINKS_FILE, kind: 'older', text: `it lacks ${lacking} that clicks.db refers to` }
  }
  return undefined
}

function judgeDay(
  { day, rows, taken }: DayFacts,
  { positions, rawDays }: FileFacts['clicks'],
): FileFault | undefined {
  const file = `${DAYS_FOLDER}/${formatDay(day)}.db`
  let unfinished = 0
  for (const batch of taken) {
    const order = comparePositions(batch, positions.get(batch.journalId) ?? BEGINNING)
    if (order > 0) {
      const text = `it has not counted clicks that are in ${file}`
      return { file: CLICKS_FILE, kind: 'older', text }
    }
    if (order === 0) unfinished += batch.rows
  }
  const expected = (rawDays.get(day) ?? 0) + unfinished
  if (rows === expected) return undefined
  if (rows < expected) {
    return {
      file,
      kind: 'older',
      text: `it has ${rows} of the ${expected} rows of clicks that clicks.db refers to`,
    }
  }
  const text = `it refers to ${expected} of the ${rows} rows of clicks in ${file}`
  return { file: CLICKS_FILE, kind: 'older', text }
}

function missingDay(day: number, count: number): FileFault {
  const text = `${count} clicks of it are counted`
  return { file: `${DAYS_FOLDER}/${formatDay(day)}.db`, kind: 'missing', text }
}

const BUSY_MS = 5_000

/** Returns how many clicks an import has spooled after a position; undefined if no spool has this name. */
function spooledClicksAfter(
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
