import { type RawBuilder, sql } from 'kysely'
import type { Scan, Scans } from '../../../platform/database/scans.ts'
import { Failure } from '../../../platform/failure.ts'
import type { LinkQuery } from '../../link-query.ts'
import { isCounted, matches, type SeqRange, sortedBy } from '../link-matches.ts'
import { countInSlices, type FindPage, forEachSlice, walkOf } from '../link-scan.ts'

/**
 * How many surplus links the table may hold before it is trimmed: few enough to trim in one turn.
 */
const SURPLUS = 1_000
/** For a page that needs more links than this, the table is not trimmed. */
const NEEDED_MAX = 10_000

/** The position of a page in a list that is read from the nearer end. */
type Window = { readonly offset: number; readonly limit: number; readonly descending: boolean }

let lastTable = 0

/**
 * Sorts slice by slice: a temporary table keeps the links from the nearer end of the list to the
 * page. A single statement would block the scan thread for all other scans until it ends.
 */
export const findSortedBySlices: FindPage = async (scans, query, scan) => {
  const total = await countInSlices(scans, query, scan)
  const count = Math.min(query.limit, total - query.offset)
  if (count <= 0) return { seqs: [], total }
  const after = total - query.offset - count
  const { descending } = query.sort
  if (query.offset <= after) {
    const window = { offset: query.offset, limit: count, descending }
    return { seqs: await sortWindow(scans, query, window, scan), total }
  }
  const window = { offset: after, limit: count, descending: !descending }
  return { seqs: (await sortWindow(scans, query, window, scan)).reverse(), total }
}

async function sortWindow(
  scans: Scans,
  query: LinkQuery,
  { offset, limit, descending }: Window,
  scan: Scan,
): Promise<number[]> {
  lastTable += 1
  const table = sql.id(`sorted_${lastTable}`)
  const run = <R>(statement: RawBuilder<R>) => statement.execute(scans.db)
  const direction = sql.raw(descending ? 'desc' : 'asc')
  const order = sql`value ${direction}, seq ${direction}`
  const needed = offset + limit
  let kept = 0
  try {
    await scan.turn(() =>
      run(sql`create temp table ${table} (value, seq, primary key (value, seq)) without rowid`),
    )
    await forEachSlice(scans, walkOf(query), scan, async (range) => {
      const first = firstOf(scans, query, range, { descending, limit: needed })
      await run(sql`insert into ${table} select * from ${first}`)
      const { rows } = await run(sql<{ added: number }>`select changes() as added`)
      kept += rows[0]?.added ?? 0
      if (needed > NEEDED_MAX || kept <= needed * 2 + SURPLUS) return
      await run(sql`delete from ${table} where (value, seq) ${sql.raw(descending ? '<' : '>')}
        (select value, seq from ${table} order by ${order} limit 1 offset ${needed - 1})`)
      kept = needed
    })
    const { rows } = await scan.turn(() =>
      run(
        sql<{
          seq: number
        }>`select seq from ${table} order by ${order} limit ${limit} offset ${offset}`,
      ),
    )
    return rows.map(({ seq }) => seq)
  } catch (error) {
    throw isTableGone(error) ? Failure.unavailable(error, { kind: 'database_busy' }) : error
  } finally {
    // Not in a turn: it is short, and must run even when the scan gets no further turn.
    await run(sql`drop table if exists ${table}`).catch(() => {})
  }
}

/** Selects the first links of the slice, as many as the page may need, with their sort values. */
function firstOf(
  { db }: Scans,
  query: LinkQuery,
  range: SeqRange,
  { descending, limit }: Pick<Window, 'descending' | 'limit'>,
) {
  const order = sortedBy(query.sort.field)
  const direction = descending ? 'desc' : 'asc'
  return db
    .selectFrom('links')
    .$if(isCounted(query.sort.field), (qb) =>
      qb.leftJoin('link_clicks', 'link_clicks.link_seq', 'links.seq'),
    )
    .select([order.as('value'), 'links.seq'])
    .where(matches(query, range))
    .orderBy(order, direction)
    .orderBy('links.seq', direction)
    .limit(limit)
}

/** Whether the scan thread has crashed and restarted since the table was created. */
function isTableGone(error: unknown): boolean {
  return error instanceof Error && /no such table: sorted_/.test(error.message)
}
