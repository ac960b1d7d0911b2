import type { DatabaseSync } from 'node:sqlite'
import { CLICKS_FILE, type FileFault, LINKS_FILE } from '../../../storage/file-fault.ts'
import { type ClicksMark, readClicksMark } from '../../../storage/sqlite/file-marks.ts'
import { readTotal } from '../../tally/day-format.ts'
import { DayTally } from '../../tally/day-tally.ts'
import { PARTS, type SCOPES } from '../fold-days.ts'

/** Shared scratch: cleared before each use, and never held across an `await`. */
const tally = new DayTally()

/** Indexed by the numbers of `SCOPES`. */
const NAMES = ['link', 'domain', 'workspace'] as const

/*
 * Checks sums that every transaction keeps equal. A file that mixes pages of different moments is rarely
 * malformed, but its sums differ.
 */

/** Compares the number of links with the sum of the stored bucket counts. */
export function checkLinkSums(database: DatabaseSync): FileFault[] {
  return inSnapshot(database, () => {
    const links = sumOf(database, 'select count(*) as sum from links')
    const counted = sumOf(database, 'select coalesce(sum(links), 0) as sum from link_buckets')
    if (links === counted) return []
    return [miscounted(LINKS_FILE, `it has ${links} links, and ${counted} are counted`)]
  })
}

/**
 * Compares the sum of the links' counters with the sum of all batches.
 *
 * @param options.isFull whether to check the charts too, which reads the whole file
 */
export function checkClickSums(
  database: DatabaseSync,
  { isFull }: { isFull: boolean },
): FileFault[] {
  return inSnapshot(database, () => {
    const mark = readClicksMark(database)
    if (mark === undefined) return []
    const { clicks } = mark
    const counters = sumOf(database, 'select coalesce(sum(clicks), 0) as sum from link_clicks')
    if (counters !== clicks) {
      const text = `the links' counters add up to ${counters}, and ${clicks} clicks were counted`
      return [miscounted(CLICKS_FILE, text)]
    }
    return isFull ? checkCharts(database, mark) : []
  })
}

/** Checks a day's file: rows are only appended, and the file names the workspace of each row. */
export function checkDaySums(database: DatabaseSync, file: string): FileFault[] {
  return inSnapshot(database, () => {
    const clicks = database
      .prepare(`select count(*) as count, coalesce(max(rowid), 0) as last,
        coalesce(max(workspace), 0) as workspace from clicks`)
      .get()
    const workspaces = sumOf(database, 'select count(*) as sum from workspaces')
    if (clicks?.count !== clicks?.last) {
      return [damaged(file, `it has ${clicks?.count} of its ${clicks?.last} clicks`)]
    }
    if (Number(clicks?.workspace) <= workspaces) return []
    return [damaged(file, 'it has clicks of workspaces that it does not name')]
  })
}

/** Checks that every click that is not in ClickHouse is in the charts of its link, its domain and its workspace. */
function checkCharts(database: DatabaseSync, { uncharted, ...mark }: ClicksMark): FileFault[] {
  const sums = sumCharts(database)
  const clicks = mark.clicks - uncharted
  const expected = {
    link: clicks,
    domain: clicks + mark.domainOffset,
    workspace: clicks + mark.workspaceOffset,
  }
  return (['link', 'domain', 'workspace'] as const).flatMap((scope) => {
    if (sums[scope] === expected[scope]) return []
    const text = `the ${scope}s' charts add up to ${sums[scope]}, and ${expected[scope]} clicks were counted`
    return [miscounted(CLICKS_FILE, text)]
  })
}

/** Adds up people's clicks in the charts of each scope. Reads most of the file. */
export function sumCharts(database: DatabaseSync): Record<keyof typeof SCOPES, number> {
  const sums = { link: 0, domain: 0, workspace: 0 }
  const rows = database.prepare('select scope, part, data from click_days where part <= 1')
  for (const { scope, part, data } of rows.iterate()) {
    const name = NAMES[Number(scope)]
    if (name !== undefined) sums[name] += personsIn(Number(part), data)
  }
  return sums
}

/**
 * Returns people's clicks in a row of `click_days`.
 *
 * @param part the recent part or the total
 */
export function personsIn(part: number, data: unknown): number {
  if (!(data instanceof Uint8Array)) throw new Error('the data of a click day is not a blob')
  if (part === PARTS.total) return readTotal(data, false).persons
  tally.clear()
  tally.addChunks(data)
  return tally.total(false).persons
}

function inSnapshot<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin')
  try {
    return work()
  } finally {
    database.exec('commit')
  }
}

function sumOf(database: DatabaseSync, query: string): number {
  return Number(database.prepare(query).get()?.sum)
}

function miscounted(file: string, text: string): FileFault {
  return { file, kind: 'miscounted', text }
}

function damaged(file: string, text: string): FileFault {
  return { file, kind: 'damaged', text }
}
