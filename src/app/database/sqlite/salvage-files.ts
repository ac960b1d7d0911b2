import { existsSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { PARTS } from '../../../clicks/store/fold-days.ts'
import { personsIn } from '../../../clicks/store/sqlite/check-sums.ts'
import { openDayDatabase, RAW_COLUMNS } from '../../../clicks/store/sqlite/raw-click-files.ts'
import { dayOf, parseDay } from '../../../clicks/tally/click-day.ts'
import { CLICKS_FILE } from '../../../storage/file-fault.ts'
import { openToRead } from '../../../storage/sqlite/connection.ts'
import { isUnreadable } from '../../../storage/sqlite/errors.ts'
import { hasTable } from '../../../storage/sqlite/file-marks.ts'
import { type Reading, readableRows, type SalvagedRow } from '../../../storage/sqlite/salvage.ts'

const BUSY_MS = 5_000
const CLICKS_TABLES = [
  'link_clicks',
  'click_days',
  'journal_positions',
  'unsettled_days',
  'known_labels',
] as const
const DAY_TABLES = ['clicks'] as const
/** The columns that files of older releases lack. */
const ABSENT = { count: 1, rule: '', variant: '', label: '', region: '', city: '' }
/** Returns how much of a damaged clicks.db or day's file can be read; undefined if it is nothing. */
export function surveyFile(dataDir: string, name: string): Reading | undefined {
  const file = path.join(dataDir, name)
  if (!existsSync(file)) return undefined
  const reading = { rows: 0, gaps: 0 }
  try {
    const database = openToRead(file, BUSY_MS)
    try {
      for (const table of name === CLICKS_FILE ? CLICKS_TABLES : DAY_TABLES) {
        if (!hasTable(database, 'main', table)) continue
        for (const _row of readableRows(database, table, reading)) {
          // Counted by `readableRows`.
        }
      }
    } finally {
      database.close()
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error
  }
  return reading.rows > 0 ? reading : undefined
}

/**
 * Makes the file of a day from the readable rows of a damaged one. Its rows get new numbers, because a day's file has
 * no gaps.
 *
 * @param name as in `FileFault`
 * @param from the damaged file
 */
export function salvageDay(dataDir: string, name: string, from: string): void {
  const day = parseDay(path.basename(name, '.db'))
  if (day === undefined) throw new Error(`${name} is not the file of a day`)
  const damaged = openToRead(from, BUSY_MS)
  const made = openDayDatabase(path.join(dataDir, path.dirname(name)), day)
  try {
    made.exec('begin')
    copyRows(damaged, made, 'workspaces', ['number', 'id'])
    const known = new Set(
      made
        .prepare('select number from workspaces')
        .all()
        .map(({ number }) => number),
    )
    copyRows(damaged, made, 'taken', ['journal_id', 'segment', 'position', 'clicks', 'rows'])
    const insert = made.prepare(insertion('clicks', RAW_COLUMNS))
    for (const row of rowsOf(damaged, 'clicks')) {
      if (dayOf(Number(row.at)) !== day) continue
      // A click of a workspace whose name cannot be read is kept, and not exported.
      const workspace = known.has(row.workspace ?? null) ? row.workspace : null
      const click: SalvagedRow = { ...ABSENT, ...row, workspace: workspace ?? null }
      insert.run(...RAW_COLUMNS.map((column) => click[column] ?? null))
    }
    made.exec('commit')
  } finally {
    made.close()
    damaged.close()
  }
}

/**
 * Copies what can be read of a damaged clicks.db into a new one: the charts of days, except the given ones, where the
 * journals are ingested to, and when days' files were dropped. Adds the counters of links to the temporary table
 * `salvaged`. Call it in a transaction.
 *
 * @param recounted days of which there are files to count again
 */
export function salvageClicks(
  database: DatabaseSync,
  from: string,
  recounted: readonly number[],
): void {
  database.exec(
    'create temp table salvaged (link_seq integer primary key, clicks integer not null, last_click integer not null)',
  )
  const isRecounted = new Set(recounted)
  const damaged = openToRead(from, BUSY_MS)
  try {
    const keys = ['day', 'scope', 'subject', 'workspace_id'] as const
    const columns = [...keys, 'part', 'folded', 'parts', 'data'] as const
    copyRows(damaged, database, 'click_days', columns, (row) => {
      return !isRecounted.has(Number(row.day)) && isChart(row)
    })
    copyRows(damaged, database, 'unsettled_days', keys, ({ day }) => !isRecounted.has(Number(day)))
    if (hasTable(damaged, 'main', 'returned_days')) {
      const returned = [...keys, 'origin', 'persons', 'others', 'data'] as const
      copyRows(damaged, database, 'returned_tallies', returned, ({ day }) => {
        return !isRecounted.has(Number(day))
      })
      copyRows(damaged, database, 'returned_days', ['origin', 'day', 'mark'])
    }
    const positions = ['journal_id', 'segment', 'position', 'updated_at'] as const
    copyRows(damaged, database, 'journal_positions', positions)
    const counters = ['link_seq', 'clicks', 'last_click'] as const
    copyRows(damaged, database, 'link_clicks', counters, () => true, 'salvaged')
    copyRows(damaged, database, 'known_labels', ['workspace_id', 'label', 'day'])
    const dropped = database.prepare('update file_marks set dropped_before = ?')
    for (const { dropped_before } of rowsOf(damaged, 'file_marks')) {
      dropped.run(dropped_before ?? null)
    }
  } finally {
    damaged.close()
  }
  // The chart of a day has several rows, which are useful together only.
  database.exec(`
    delete from click_days where (day, scope, subject, workspace_id) in (
      select day, scope, subject, workspace_id from click_days group by 1, 2, 3, 4
        having sum(part = ${PARTS.recent}) = 0
          or sum(iif(part > ${PARTS.recent}, length(data), 0)) <>
            sum(iif(part = ${PARTS.recent}, parts, 0)));
    delete from unsettled_days where (day, scope, subject, workspace_id) not in
      (select day, scope, subject, workspace_id from click_days);
    delete from returned_tallies where (day, scope, subject, workspace_id) not in
      (select day, scope, subject, workspace_id from click_days);
    update returned_days set mark = ''`)
}

/** Whether the data of a chart can be decoded, as far as its sum needs it. */
function isChart({ part, data }: SalvagedRow): boolean {
  if (!(data instanceof Uint8Array)) return false
  if (Number(part) > PARTS.total) return true
  try {
    personsIn(Number(part), data)
    return true
  } catch {
    return false
  }
}

/**
 * Copies the readable rows of a table that `isWanted` accepts. Those that lack a value, as no program has written them,
 * are left out.
 */
function copyRows(
  from: DatabaseSync,
  to: DatabaseSync,
  table: string,
  columns: readonly string[],
  isWanted: (row: SalvagedRow) => boolean = () => true,
  into: string = table,
): void {
  const insert = to.prepare(insertion(into, columns))
  for (const row of rowsOf(from, table)) {
    if (isWanted(row)) insert.run(...columns.map((column) => row[column] ?? null))
  }
}

function rowsOf(database: DatabaseSync, table: string): Iterable<SalvagedRow> {
  try {
    if (!hasTable(database, 'main', table)) return []
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return []
  }
  return readableRows(database, table, { rows: 0, gaps: 0 })
}

function insertion(table: string, columns: readonly string[]): string {
  return `insert or ignore into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`
}
