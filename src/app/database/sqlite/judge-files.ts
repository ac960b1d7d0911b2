import type { JournalPosition } from '../../../clicks/store/click-store.ts'
import { formatDay } from '../../../clicks/tally/click-day.ts'
import {
  CLICKS_FILE,
  DAYS_FOLDER,
  type FileFault,
  LINKS_FILE,
} from '../../../storage/file-fault.ts'
import type { ClicksMark, GivenNumbers, LinksMark } from '../../../storage/sqlite/file-marks.ts'

/** The facts that the files of a data folder record about themselves and each other. */
export type FileFacts = {
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
export type UnfinishedBatch = {
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
export function judgeFiles({ links, clicks, days }: FileFacts): readonly FileFault[] {
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
