import type { DatabaseSync } from 'node:sqlite'
import { folderOf, translateError } from '../../../platform/database/sqlite/errors.ts'
import { type ClickRows, type DayPart, FOLD_BYTES_MIN, type GrownDay } from '../click-day-rows.ts'

/** Runs one statement per row, as there is no network. Without Kysely, which would double the cost. */
export function sqliteClickRows(database: DatabaseSync): ClickRows {
  const folder = folderOf(database)
  const addToLink = database.prepare(
    `insert into link_clicks (link_seq, clicks, last_click) values (?, ?, ?)
     on conflict do update set clicks = clicks + excluded.clicks,
       last_click = max(last_click, excluded.last_click)`,
  )
  const appendToDay = database.prepare(
    `insert into click_days (day, scope, subject, workspace_id, part, folded, parts, data)
     values (?, ?, ?, ?, 0, 0, 0, ?)
     on conflict do update set data = cast(data || excluded.data as blob)
     returning length(data), folded, parts`,
  )
  appendToDay.setReturnArrays(true)
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

  return {
    async addToLinks(counts) {
      try {
        for (const { link_seq, clicks, last_click } of counts) {
          addToLink.run(link_seq, clicks, last_click)
        }
      } catch (error) {
        throw translateError(error, folder)
      }
    },

    async appendToDays(deltas) {
      const grown: GrownDay[] = []
      try {
        for (const { day, scope, subject, workspace_id, data } of deltas) {
          const row = appendToDay.get(day, scope, subject, workspace_id, data)
          const [size = 0, folded = 0, parts = 0] = Object.values(row ?? []).map(Number)
          if (size - folded <= Math.max(FOLD_BYTES_MIN, folded)) continue
          grown.push({ day, scope, subject, workspace_id, parts })
        }
      } catch (error) {
        throw translateError(error, folder)
      }
      return grown
    },

    async readDays(keys, which) {
      const statement = which === 'recent' ? readRecent : readOthers
      const found: DayPart[] = []
      try {
        for (const { day, scope, subject, workspace_id } of keys) {
          for (const { part, data } of statement.all(day, scope, subject, workspace_id)) {
            if (!(data instanceof Uint8Array))
              throw new Error('the data of a click day is not a blob')
            found.push({ day, scope, subject, workspace_id, part: Number(part), data })
          }
        }
      } catch (error) {
        throw translateError(error, folder)
      }
      return found
    },

    async writeDays(rows) {
      try {
        for (const { day, scope, subject, workspace_id, part, folded, parts, data } of rows) {
          writeDay.run(day, scope, subject, workspace_id, part, folded, parts, data)
        }
      } catch (error) {
        throw translateError(error, folder)
      }
    },
  }
}
