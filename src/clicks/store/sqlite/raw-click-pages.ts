import { existsSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import { kyselyOver } from '../../../platform/database/sqlite/dialect.ts'
import type { ScanConnection } from '../../../platform/database/sqlite/scan-connection.ts'
import type { RawClickPages } from '../click-reports.ts'
import { RAW_CLICK_COLUMNS } from '../raw-click-columns.ts'
import { rawClicksFile } from './raw-click-days.ts'

const PAGE_ROWS = 1_000
/** Rows scanned for one page, of all subjects: a few milliseconds on the scan thread. */
const ROWS_PER_QUERY = 20_000

/** Scans each file from its beginning: exports are too rare to justify maintaining an index. */
export function sqliteRawClickPages(folder: string, scans: ScanConnection): RawClickPages {
  return async function* ({ scope, day, fromMicros, toMicros, scan }) {
    const file = rawClicksFile(folder, day)
    if (!existsSync(file)) return
    const db = kyselyOver(scans.over(file))
    const last = await scan.turn(() =>
      db.selectFrom('clicks').select(sql<number | null>`max(rowid)`.as('id')).executeTakeFirst(),
    )
    const end = last?.id ?? 0
    const columns = await scan.turn(() => columnsOf(db))
    for (let after = 0; after < end; ) {
      const until = after + ROWS_PER_QUERY
      let query = db
        .selectFrom('clicks')
        .select([sql<number>`rowid`.as('id'), ...columns])
        .where(sql<number>`rowid`, '>', after)
        .where(sql<number>`rowid`, '<=', Math.min(until, end))
        .where('at', '>=', fromMicros)
        .where('at', '<', toMicros)
        .where(
          sql`workspace`,
          '=',
          sql`(select number from workspaces where id = ${scope.workspaceId})`,
        )
        .orderBy(sql`rowid`)
        .limit(PAGE_ROWS)
      if (scope.kind === 'link') query = query.where('link_seq', '=', scope.linkSeq)
      if (scope.kind === 'domain') query = query.where('keyspace_id', '=', scope.keyspaceId)
      const rows = await scan.turn(() => query.execute())
      after = rows.length < PAGE_ROWS ? until : (rows.at(-1)?.id ?? until)
      yield rows.map(({ id, ...row }) => row)
    }
  }
}

/** Files of older releases have no `count` column: each row is one visit. */
export async function columnsOf(db: Kysely<Schema>) {
  const found = await sql`
    select 1 from pragma_table_info('clicks') where name = 'count'`.execute(db)
  return found.rows.length > 0
    ? RAW_CLICK_COLUMNS
    : RAW_CLICK_COLUMNS.map((column) => (column === 'count' ? sql<number>`1`.as(column) : column))
}
