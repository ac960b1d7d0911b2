import { type RawBuilder, sql } from 'kysely'
import { Failure } from '../../platform/failure.ts'
import type { Scan, Scans } from '../../storage/scans.ts'
import type { HostCounts, LinkFilter, LinkQuery, LinkRun } from '../link-query.ts'
import { isCounted, matches, type SeqRange, sortedBy } from './link-matches.ts'

/** The numbers of a page's links in the list's order, and the length of the list. */
type FoundPage = { readonly seqs: readonly number[]; readonly total: number }

/** Finds a page of a list that no index provides. */
export type FindPage = (scans: Scans, query: LinkQuery, scan: Scan) => Promise<FoundPage>

/** The filter, direction and start of a scan over a workspace's links. */
type Walk = Omit<LinkRun, 'limit'>

/** The target duration of a turn; other scans wait for it. */
const SLICE_MS = 40
/**
 * Sizes of a slice, in links. A link takes from 1 µs up to 1 ms, with the longest URL and the worst
 * search text.
 */
const SLICE_LINKS_FIRST = 1_024
const SLICE_LINKS_MIN = 256
const SLICE_LINKS_MAX = 16_384
const SLICE_GROWTH_MAX = 4
/** Keys of a turn that counts them in their index: some milliseconds. */
const SLICE_KEYS = 65_536

/** Finds pages in order of creation slice by slice, and all others with `findSorted`. */
export function findPageWith(findSorted: FindPage): FindPage {
  return (scans, query, scan) =>
    query.sort.field === 'created_at'
      ? findByAge(scans, query, scan)
      : findSorted(scans, query, scan)
}

async function findByAge(scans: Scans, query: LinkQuery, scan: Scan): Promise<FoundPage> {
  const { offset, limit, sort } = query
  const seqs: number[] = []
  let total = 0
  await forEachSlice(scans, walkOf(query), scan, async (range) => {
    const count = await countMatches(scans, query, range)
    const skipped = Math.max(0, offset - total)
    const wanted = Math.min(limit - seqs.length, count - skipped)
    total += count
    if (wanted <= 0) return
    const rows = await scans.db
      .selectFrom('links')
      .select('links.seq')
      .where(matches(query, range))
      .orderBy('links.seq', sort.descending ? 'desc' : 'asc')
      .limit(wanted)
      .offset(skipped)
      .execute()
    seqs.push(...rows.map(({ seq }) => seq))
  })
  return { seqs, total }
}

/** Returns the numbers of a run's links and of the next link after it. Reads no further. */
export async function findRun(scans: Scans, run: LinkRun, scan: Scan): Promise<readonly number[]> {
  const limit = run.limit + 1
  const seqs: number[] = []
  await forEachSlice(scans, run, scan, async (range) => {
    const rows = await scans.db
      .selectFrom('links')
      .select('links.seq')
      .where(matches(run, range))
      .orderBy('links.seq', run.descending ? 'desc' : 'asc')
      .limit(limit - seqs.length)
      .execute()
    seqs.push(...rows.map(({ seq }) => seq))
    return seqs.length === limit ? 'done' : undefined
  })
  return seqs
}

/** Counts the links that match the filter. */
export async function countInSlices(scans: Scans, filter: LinkFilter, scan: Scan): Promise<number> {
  let total = 0
  const walk = { ...filter, descending: true, beyond: undefined }
  await forEachSlice(scans, walk, scan, async (range) => {
    total += await countMatches(scans, filter, range)
  })
  return total
}

/** Counts the links of a workspace on hosts of its own. Reads only the index of keys. */
export async function countByHost(
  { db }: Scans,
  { workspaceId, hosts }: HostCounts,
  scan: Scan,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map(hosts.map((host) => [host, 0]))
  const keyspaces = await scan.turn(() =>
    db
      .selectFrom('keyspaces')
      .select(['id', 'host'])
      .where('workspace_id', '=', workspaceId)
      .where('host', 'in', hosts)
      .execute(),
  )
  for (const { id, host } of keyspaces) {
    // Before every key, because none is empty.
    let begin: string | undefined = ''
    while (begin !== undefined) {
      const after: string = begin
      begin = await scan.turn(async () => {
        const keys = db
          .selectFrom('links')
          .where('keyspace_id', '=', id)
          .where('key_folded', '>', after)
        const end = await keys
          .select('key_folded')
          .orderBy('key_folded')
          .limit(1)
          .offset(SLICE_KEYS)
          .executeTakeFirst()
        const { links } = await keys
          .select((eb) => eb.fn.countAll<number>().as('links'))
          .$if(end !== undefined, (qb) => qb.where('key_folded', '<=', end?.key_folded ?? ''))
          .executeTakeFirstOrThrow()
        counts.set(host, (counts.get(host) ?? 0) + links)
        return end?.key_folded
      })
    }
  }
  return counts
}

function walkOf(query: LinkQuery): Walk {
  return { ...query, descending: query.sort.descending, beyond: undefined }
}

async function countMatches({ db }: Scans, filter: LinkFilter, range?: SeqRange): Promise<number> {
  const { count } = await db
    .selectFrom('links')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(matches(filter, range))
    .executeTakeFirstOrThrow()
  return count
}

/**
 * Calls `read` for consecutive slices of the workspace's links, each in a separate turn and sized
 * to the turn's target duration, until `read` returns 'done'. With tags, scans only the links with
 * the first tag; else with an external id or a set, only those that have it.
 */
async function forEachSlice(
  scans: Scans,
  walk: Walk,
  scan: Scan,
  read: (range: SeqRange) => Promise<unknown>,
): Promise<void> {
  const { descending } = walk
  let links = SLICE_LINKS_FIRST
  let begin = walk.beyond
  do {
    begin = await scan.turn(async () => {
      const startedMs = performance.now()
      const end = await endOfSlice(scans, walk, begin, links)
      const range = descending ? { after: end, before: begin } : { after: begin, before: end }
      if ((await read(range)) === 'done') return undefined
      const factor = SLICE_MS / Math.max(1, performance.now() - startedMs)
      const wanted = Math.floor(links * Math.min(SLICE_GROWTH_MAX, factor))
      links = Math.min(SLICE_LINKS_MAX, Math.max(SLICE_LINKS_MIN, wanted))
      // The range leaves out both its ends, and the link at this one belongs to the next slice.
      return end === undefined ? undefined : end + (descending ? 1 : -1)
    })
  } while (begin !== undefined)
}

/**
 * Returns the first link after a slice of `links` links, in the list's direction, or undefined for
 * the last slice.
 */
async function endOfSlice(
  { db }: Scans,
  { workspaceId, tags, externalId, managedBy, descending }: Walk,
  begin: number | undefined,
  links: number,
): Promise<number | undefined> {
  const direction = descending ? 'desc' : 'asc'
  const beyond = descending ? '<' : '>'
  const tag = tags?.[0]
  if (tag !== undefined) {
    const row = await db
      .selectFrom('link_tags')
      .select('link_seq')
      .where('workspace_id', '=', workspaceId)
      .where('tag', '=', tag)
      .$if(begin !== undefined, (qb) => qb.where('link_seq', beyond, begin ?? 0))
      .orderBy('link_seq', direction)
      .limit(1)
      .offset(links)
      .executeTakeFirst()
    return row?.link_seq
  }
  const row = await db
    .selectFrom('links')
    .select('seq')
    .where('workspace_id', '=', workspaceId)
    .$if(externalId !== undefined, (qb) => qb.where('external_id', '=', externalId ?? 0))
    .$if(managedBy !== undefined, (qb) => qb.where('managed_by', '=', managedBy ?? ''))
    .$if(begin !== undefined, (qb) => qb.where('seq', beyond, begin ?? 0))
    .orderBy('seq', direction)
    .limit(1)
    .offset(links)
    .executeTakeFirst()
  return row?.seq
}

/**
 * Counts with one statement and reads the page with another. For an engine that runs several
 * statements at the same time.
 */
export const findSortedAtOnce: FindPage = async (scans, query, scan) => {
  const { sort, limit, offset } = query
  const direction = sort.descending ? 'desc' : 'asc'
  const total = await scan.turn(() => countMatches(scans, query))
  const rows = await scan.turn(() =>
    scans.db
      .selectFrom('links')
      .$if(isCounted(sort.field), (qb) =>
        qb.leftJoin('link_clicks', 'link_clicks.link_seq', 'links.seq'),
      )
      .select('links.seq')
      .where(matches(query))
      .orderBy(sortedBy(sort.field), direction)
      .orderBy('links.seq', direction)
      .limit(limit)
      .offset(offset)
      .execute(),
  )
  return { seqs: rows.map(({ seq }) => seq), total }
}

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
