import { type Kysely, sql } from 'kysely'
import { numberArray } from '../../../storage/postgres/errors.ts'
import type { Schema } from '../../../storage/schema.ts'
import { COUNTED_DAYS, SCOPES } from '../click-day-rows.ts'

/** Days of which rows are deleted in one statement. */
const DAYS_PER_STEP = 30
/** Raw clicks that are deleted in one statement. */
const ROWS_PER_STEP = 5_000

/** Deletes the counters and charts of links. Runs again from the beginning when it fails. */
export async function eraseLinkRows(
  db: Kysely<Schema>,
  linkSeqs: readonly number[],
): Promise<void> {
  const subjects = sql`any(${numberArray(linkSeqs)}::bigint[])`
  for (const days of await stepsOf(db)) {
    for (const table of ['click_days', 'unsettled_days']) {
      await sql`delete from ${sql.table(table)}
        where day = any(${numberArray(days)}::integer[])
          and scope = ${sql.lit(SCOPES.link)} and subject = ${subjects}`.execute(db)
    }
  }
  await sql`delete from link_clicks where link_seq = ${subjects}`.execute(db)
}

/** Deletes charts and raw clicks of a workspace. Runs again from the beginning when it fails. */
export async function eraseWorkspaceRows(db: Kysely<Schema>, workspaceId: string): Promise<void> {
  for (const days of await stepsOf(db)) {
    for (const table of ['click_days', 'unsettled_days']) {
      await sql`delete from ${sql.table(table)}
        where day = any(${numberArray(days)}::integer[])
          and scope in (${sql.lit(SCOPES.domain)}, ${sql.lit(SCOPES.workspace)})
          and workspace_id = ${workspaceId}`.execute(db)
    }
  }
  for (;;) {
    const some = db
      .selectFrom('clicks')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .orderBy('id')
      .limit(ROWS_PER_STEP)
    const { numDeletedRows } = await db
      .deleteFrom('clicks')
      .where('workspace_id', '=', workspaceId)
      .where('id', 'in', some)
      .executeTakeFirst()
    if (numDeletedRows === 0n) return
  }
}

/** The days with counts, a few at a time. */
async function stepsOf(db: Kysely<Schema>): Promise<readonly number[][]> {
  const { rows } = await sql<{ day: number }>`${sql.raw(COUNTED_DAYS)}`.execute(db)
  const days = rows.map(({ day }) => day)
  return Array.from({ length: Math.ceil(days.length / DAYS_PER_STEP) }, (_, nth) =>
    days.slice(nth * DAYS_PER_STEP, (nth + 1) * DAYS_PER_STEP),
  )
}
