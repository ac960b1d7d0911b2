import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import { DAYS_FOLDER } from '../../../storage/file-fault.ts'
import type { Schema } from '../../../storage/schema.ts'
import { kyselyOver } from '../../../storage/sqlite/connection.ts'
import type { ScanConnection } from '../../../storage/sqlite/scan-connection.ts'
import { formatDay, parseDay } from '../../tally/click-day.ts'
import type { RawClickRow } from '../link-names.ts'
import {
  type LinkCounts,
  RAW_CLICK_COLUMNS,
  type RawClickSource,
  type RawDayQuery,
} from '../raw-click-source.ts'

const PAGE_ROWS = 1_000
/** Rows scanned for one page, of all subjects: a few milliseconds on the scan thread. */
const ROWS_PER_QUERY = 20_000

/** Scans each file from its beginning: exports are too rare to justify maintaining an index. */
export function sqliteRawClickSource(folder: string, scans: ScanConnection): RawClickSource {
  const open = (day: number) => {
    const file = rawClicksFile(folder, day)
    return existsSync(file) ? kyselyOver(scans.over(file)) : undefined
  }
  return {
    async *pages(query) {
      const db = open(query.day)
      if (db !== undefined) yield* pagesOf(db, query)
    },
    async *linkCounts(query) {
      const db = open(query.day)
      if (db !== undefined) yield* linkCountsOf(db, query)
    },
  }
}

async function* pagesOf(
  db: Kysely<Schema>,
  { scope, fromMicros, toMicros, scan }: RawDayQuery,
): AsyncGenerator<readonly RawClickRow[]> {
  const end = await scan.turn(() => lastRow(db))
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

/** Reads the sums as three JSON arrays: a row for each link would cost more between the threads than the adding up. */
async function* linkCountsOf(
  db: Kysely<Schema>,
  { scope, fromMicros, toMicros, scan }: RawDayQuery,
): AsyncGenerator<readonly LinkCounts[]> {
  const end = await scan.turn(() => lastRow(db))
  const count = (await scan.turn(() => hasCounts(db))) ? sql`count` : sql`1`
  const ofDomain = scope.kind === 'domain' ? sql`and keyspace_id = ${scope.keyspaceId}` : sql``
  const ofLink = scope.kind === 'link' ? sql`and link_seq = ${scope.linkSeq}` : sql``
  for (let after = 0; after < end; after += ROWS_PER_QUERY) {
    const query = sql<Record<'links' | 'persons' | 'others', string>>`
      select json_group_array(link_seq) as links, json_group_array(persons) as persons,
        json_group_array(others) as others
      from (
        select link_seq, sum(iif(flags = 0, ${count}, 0)) as persons,
          sum(iif(flags = 0, 0, ${count})) as others
        from clicks
        where rowid > ${after} and rowid <= ${Math.min(after + ROWS_PER_QUERY, end)}
          and at >= ${fromMicros} and at < ${toMicros}
          and workspace = (select number from workspaces where id = ${scope.workspaceId})
          ${ofDomain} ${ofLink}
        group by link_seq)`
    const { rows } = await scan.turn(() => query.execute(db))
    for (const row of rows) {
      const links: number[] = JSON.parse(row.links)
      const persons: number[] = JSON.parse(row.persons)
      const others: number[] = JSON.parse(row.others)
      yield links.map((linkSeq, nth) => ({
        linkSeq,
        persons: persons[nth] ?? 0,
        others: others[nth] ?? 0,
      }))
    }
  }
}

async function lastRow(db: Kysely<Schema>): Promise<number> {
  const last = await db
    .selectFrom('clicks')
    .select(sql<number | null>`max(rowid)`.as('id'))
    .executeTakeFirst()
  return last?.id ?? 0
}

/** Files of older releases have no `count` column: each row is one visit. */
async function hasCounts(db: Kysely<Schema>): Promise<boolean> {
  const found = await sql`
    select 1 from pragma_table_info('clicks') where name = 'count'`.execute(db)
  return found.rows.length > 0
}

export async function columnsOf(db: Kysely<Schema>) {
  return (await hasCounts(db))
    ? RAW_CLICK_COLUMNS
    : RAW_CLICK_COLUMNS.map((column) => (column === 'count' ? sql<number>`1`.as(column) : column))
}

const EXTENSION = '.db'

/** Where the raw clicks are, a file for each UTC day, so that a day is dropped by removing its file. */
export function rawClicksFolder(dataDir: string): string {
  return path.join(dataDir, DAYS_FOLDER)
}

export function rawClicksFile(folder: string, day: number): string {
  return path.join(folder, formatDay(day) + EXTENSION)
}

/** The days of which there are raw clicks, ascending. */
export function listRawDays(folder: string): number[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => parseDay(name.slice(0, -EXTENSION.length)))
    .filter((day) => day !== undefined)
    .sort((a, b) => a - b)
}
