import { Kysely, PostgresDialect, sql } from 'kysely'
import { numberArray, textArray, uuidArray } from '../../../storage/postgres/errors.ts'
import { openPool } from '../../../storage/postgres/pool.ts'
import type { Schema } from '../../../storage/schema.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import { startOfDay } from '../../tally/click-day.ts'
import type { OwnedClick } from '../raw-click-source.ts'
import type { ReturnTarget } from '../returned-days.ts'
import { postgresClickRows } from './click-rows.ts'
import { ClickPartitions } from './raw-clicks.ts'

const CONNECTIONS_MAX = 1
/** Allows for a slow disk, and for waiting while batches of the service commit. */
const STATEMENT_TIMEOUT_MS = 600_000

/** Connects to a migrated database. */
export function openPostgresReturnTarget(options: {
  readonly url: string
  readonly onError: (error: unknown) => void
}): ReturnTarget {
  const pool = openPool({
    ...options,
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  })
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  const partitions = new ClickPartitions(db, 'returned_clicks')
  return {
    transaction: (work) =>
      db
        .transaction()
        .execute((tx) => work({ db: tx, rows: postgresClickRows(tx), noteCharted() {} })),

    async replaceClicks(origin, day, pages) {
      await db
        .deleteFrom('returned_clicks')
        .where('origin', '=', origin)
        .where('at', '>=', startOfDay(day))
        .where('at', '<', startOfDay(day + 1))
        .execute()
      let clicks = 0
      for await (const page of pages) {
        if (clicks === 0) await partitions.ensure([day])
        await insertClicks(db, origin, page)
        clicks += page.length
      }
      return clicks
    },

    close: () => db.destroy(),
  }
}

async function insertClicks(
  db: Kysely<Schema>,
  origin: number,
  clicks: readonly OwnedClick[],
): Promise<void> {
  if (clicks.length === 0) return
  const numbersOf = (column: 'at' | 'link_seq' | 'keyspace_id' | 'flags' | 'count' | 'visitor') =>
    sql`${numberArray(clicks.map((click) => click[column]))}::bigint[]`
  const values = CLICK_DIMENSIONS.map(
    (dimension) => sql`${textArray(clicks.map((click) => click[dimension]))}::text[]`,
  )
  await sql`
    insert into returned_clicks (origin, workspace_id, at, link_seq, keyspace_id, flags, count, visitor,
      ${sql.join(CLICK_DIMENSIONS.map((dimension) => sql.ref(dimension)))})
    select ${origin}::bigint, * from unnest(
      ${uuidArray(clicks.map(({ workspace_id }) => workspace_id))}::uuid[],
      ${numbersOf('at')}, ${numbersOf('link_seq')}, ${numbersOf('keyspace_id')},
      ${numbersOf('flags')}, ${numbersOf('count')}, ${numbersOf('visitor')},
      ${sql.join(values)})`.execute(db)
}
