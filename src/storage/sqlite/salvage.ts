import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { isUnreadable } from './errors.ts'

const ROWID = 'salvaged_rowid'
/** Each row number is tried in a damaged range of so many; beyond, the steps grow with the range. */
const EVERY_ROW_MAX = 1_024

export type SalvagedRow = Readonly<Record<string, SQLOutputValue>>

/** How much of a table was read. */
export type Reading = {
  rows: number
  /** Ranges of rows that are on damaged pages. */
  gaps: number
}

/**
 * Reads the rows of a table in a damaged file, in the order of their row numbers, and skips those that are on damaged
 * pages. Each attempt has a statement of its own: one that has failed fails again. SQLite has no checksums: damage within a value goes unnoticed, so the caller must check values.
 *
 * @param table one with row numbers
 * @param reading counts what is read
 */
export function* readableRows(
  database: DatabaseSync,
  table: string,
  reading: Reading,
): Generator<SalvagedRow> {
  const query = `select rowid as ${ROWID}, * from ${table} not indexed where rowid >= ? order by rowid`
  for (let next: number | undefined = 0; next !== undefined; ) {
    try {
      for (const { [ROWID]: rowid, ...row } of database.prepare(query).iterate(next)) {
        next = Number(rowid) + 1
        reading.rows += 1
        yield row
      }
      return
    } catch (error) {
      if (!isUnreadable(error)) throw error
      reading.gaps += 1
      next = findReadable(database, table, next + 1)
    }
  }
}

/** Returns the number of the first row from `from` on whose page can be read; undefined if there is none. */
function findReadable(database: DatabaseSync, table: string, from: number): number | undefined {
  const query = `select rowid as rowid from ${table} not indexed where rowid >= ? order by rowid limit 1`
  /** The row's number; null past the last row; undefined on a damaged page. */
  const findAt = (at: number) => attempt(() => numberOf(database.prepare(query).get(at)))
  const last = attempt(() =>
    numberOf(database.prepare(`select max(rowid) as rowid from ${table} not indexed`).get()),
  )
  const end = last ?? Number.MAX_SAFE_INTEGER
  let unreadable = from - 1
  for (let at = from; at <= end; ) {
    const found = findAt(at)
    if (found !== undefined) return firstBetween(unreadable, at, findAt) ?? undefined
    unreadable = at
    at += Math.floor((at - from) / EVERY_ROW_MAX) + 1
  }
  return undefined
}

/** Returns what is found at the lowest number that can be read, between one that cannot and one that can. */
function firstBetween(
  unreadable: number,
  readable: number,
  findAt: (at: number) => number | null | undefined,
): number | null | undefined {
  let [low, high] = [unreadable, readable]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (findAt(middle) === undefined) low = middle
    else high = middle
  }
  return findAt(high)
}

function numberOf(row: SalvagedRow | undefined): number | null {
  return typeof row?.rowid === 'number' ? row.rowid : null
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return undefined
  }
}
