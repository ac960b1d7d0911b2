import { type Kysely, sql } from 'kysely'
import { bytesArray, numberArray, textArray } from '../../../storage/postgres/errors.ts'
import type { Schema } from '../../../storage/schema.ts'
import { type ClickRows, type DayPart, FOLD_BYTES_MIN, type GrownDay } from '../fold-days.ts'

/**
 * Storage settings for frequently updated rows. The fill factor leaves room on each page, so that updates need
 * not touch the indexes. `external` storage avoids compressing bytes that are compact already.
 */
export const CLICK_DAYS_STORAGE = [
  'alter table click_days alter column data set storage external',
  'alter table click_days set (fillfactor = 70)',
  'alter table link_clicks set (fillfactor = 50)',
]

/** Runs each operation as one statement with one array parameter per column. */
export function postgresClickRows(db: Kysely<Schema>): ClickRows {
  return {
    async addToLinks(all) {
      const counts = [...all]
      if (counts.length === 0) return
      await sql`
        insert into link_clicks as kept (link_seq, clicks, last_click)
        select * from unnest(
          ${numberArray(counts.map(({ link_seq }) => link_seq))}::bigint[],
          ${numberArray(counts.map(({ clicks }) => clicks))}::bigint[],
          ${numberArray(counts.map(({ last_click }) => last_click))}::bigint[])
        on conflict (link_seq) do update set
          clicks = kept.clicks + excluded.clicks,
          last_click = greatest(kept.last_click, excluded.last_click)`.execute(db)
    },

    async appendToDays(all) {
      const deltas = Array.from(all, (delta) => ({ ...delta, data: Buffer.from(delta.data) }))
      if (deltas.length === 0) return []
      const result = await sql<GrownDay>`
        with appended as (
          insert into click_days as kept (day, scope, subject, workspace_id, part, folded, parts, data)
          select day, scope, subject, workspace_id, 0, 0, 0, data from unnest(
            ${numberArray(deltas.map(({ day }) => day))}::integer[],
            ${numberArray(deltas.map(({ scope }) => scope))}::smallint[],
            ${numberArray(deltas.map(({ subject }) => subject))}::bigint[],
            ${textArray(deltas.map(({ workspace_id }) => workspace_id))}::text[],
            ${bytesArray(deltas.map(({ data }) => data))}::bytea[])
            as delta (day, scope, subject, workspace_id, data)
          on conflict (day, scope, subject, workspace_id, part)
            do update set data = kept.data || excluded.data
          returning day, scope, subject, workspace_id, length(data) as size, folded, parts
        )
        select day, scope, subject, workspace_id, parts from appended
        where size - folded > greatest(${FOLD_BYTES_MIN}::integer, folded)`.execute(db)
      return result.rows
    },

    async readDays(keys, which) {
      const result = await sql<DayPart>`
        select day, scope, subject, workspace_id, part, data
        from unnest(
          ${numberArray(keys.map(({ day }) => day))}::integer[],
          ${numberArray(keys.map(({ scope }) => scope))}::smallint[],
          ${numberArray(keys.map(({ subject }) => subject))}::bigint[],
          ${textArray(keys.map(({ workspace_id }) => workspace_id))}::text[])
          as asked (day, scope, subject, workspace_id)
        join click_days using (day, scope, subject, workspace_id)
        where part ${sql.raw(which === 'recent' ? '= 0' : '> 0')}`.execute(db)
      return result.rows
    },

    async writeDays(rows) {
      await sql`
        insert into click_days (day, scope, subject, workspace_id, part, folded, parts, data)
        select * from unnest(
          ${numberArray(rows.map(({ day }) => day))}::integer[],
          ${numberArray(rows.map(({ scope }) => scope))}::smallint[],
          ${numberArray(rows.map(({ subject }) => subject))}::bigint[],
          ${textArray(rows.map(({ workspace_id }) => workspace_id))}::text[],
          ${numberArray(rows.map(({ part }) => part))}::smallint[],
          ${numberArray(rows.map(({ folded }) => folded))}::integer[],
          ${numberArray(rows.map(({ parts }) => parts))}::integer[],
          ${bytesArray(rows.map(({ data }) => data))}::bytea[])
        on conflict (day, scope, subject, workspace_id, part) do update set
          folded = excluded.folded, parts = excluded.parts, data = excluded.data`.execute(db)
    },
  }
}
