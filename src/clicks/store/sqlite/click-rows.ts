import type { DatabaseSync } from 'node:sqlite'
import { folderOf, translateError } from '../../../storage/sqlite/errors.ts'
import { type ClickRows, FOLD_BYTES_MIN, type GrownDay } from '../fold-days.ts'

/**
 * Whether a day must be folded is checked at random, on average once for so many appended bytes. Not at each append: for
 * `returning`, SQLite makes a temporary table and a savepoint in each statement, which takes half as long again.
 */
const BYTES_PER_CHECK = 512

/** Runs one statement per row, as there is no network. Without Kysely, which would double the cost. */
export function sqliteClickRows(database: DatabaseSync): ClickRows {
  const folder = folderOf(database)
  const addToLink = database.prepare(
    `insert into link_clicks (link_seq, clicks, last_click) values (?, ?, ?)
     on conflict do update set clicks = clicks + excluded.clicks,
       last_click = max(last_click, excluded.last_click)`,
  )
  const appending = `
    insert into click_days (day, scope, subject, workspace_id, part, folded, parts, data)
    values (?, ?, ?, ?, 0, 0, 0, ?)
    on conflict do update set data = cast(data || excluded.data as blob)`
  const append = database.prepare(appending)
  const appendAndReturn = database.prepare(`${appending} returning length(data), folded, parts`)
  appendAndReturn.setReturnArrays(true)
  const ofKey = 'day = ? and scope = ? and subject = ? and workspace_id = ?'
  const readRecent = database.prepare(
    `select part, data from click_days where ${ofKey} and part = 0`,
  )
  const readOthers = database.prepare(
    `select part, data from click_days where ${ofKey} and part > 0`,
  )
  const writeDay = database.prepare(
    `insert into click_days (day, scope, subject, workspace_id, part, folded, parts, data)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do update set folded = excluded.folded, parts = excluded.parts, data = excluded.data`,
  )

  async function translated<T>(work: () => T): Promise<T> {
    try {
      return work()
    } catch (error) {
      throw translateError(error, folder)
    }
  }

  return {
    addToLinks: (counts) =>
      translated(() => {
        for (const { link_seq, clicks, last_click } of counts) {
          addToLink.run(link_seq, clicks, last_click)
        }
      }),

    appendToDays: (deltas) =>
      translated(() => {
        const grown: GrownDay[] = []
        for (const { day, scope, subject, workspace_id, data } of deltas) {
          if (Math.random() * BYTES_PER_CHECK >= data.length) {
            append.run(day, scope, subject, workspace_id, data)
            continue
          }
          const row = appendAndReturn.get(day, scope, subject, workspace_id, data)
          const [size = 0, folded = 0, parts = 0] = Object.values(row ?? []).map(Number)
          if (size - folded <= Math.max(FOLD_BYTES_MIN, folded)) continue
          grown.push({ day, scope, subject, workspace_id, parts })
        }
        return grown
      }),

    readDays: (keys, which) =>
      translated(() => {
        const statement = which === 'recent' ? readRecent : readOthers
        return keys.flatMap(({ day, scope, subject, workspace_id }) =>
          statement.all(day, scope, subject, workspace_id).map(({ part, data }) => {
            if (data instanceof Uint8Array)
              return { day, scope, subject, workspace_id, part: Number(part), data }
            throw new Error('the data of a click day is not a blob')
          }),
        )
      }),

    writeDays: (rows) =>
      translated(() => {
        for (const { day, scope, subject, workspace_id, part, folded, parts, data } of rows) {
          writeDay.run(day, scope, subject, workspace_id, part, folded, parts, data)
        }
      }),
  }
}
