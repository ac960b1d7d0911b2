import { type Kysely, sql } from 'kysely'
import type { Page, Run } from '../../platform/database/page.ts'
import { SCAN_MS_MAX } from '../../platform/database/scan-too-long.ts'
import type { Scan, Scans } from '../../platform/database/scans.ts'
import { LINKS_PER_BUCKET, type Schema } from '../../platform/database/schema.ts'
import type { Link } from '../link.ts'
import {
  isFiltered,
  type LinkFilter,
  type LinkQuery,
  type LinkRun,
  needsScan,
} from '../link-query.ts'
import { selectLinks, withCounters } from './link-rows.ts'
import { countInSlices, type FindPage, findRun } from './link-scan.ts'

type LinkPages = {
  page(query: LinkQuery): Promise<Page<Link>>
  run(run: LinkRun): Promise<Run<Link, number>>
  count(filter: LinkFilter): Promise<number>
}

/**
 * Reads lists of links. The caller must write pending link counts before reading pages and counts.
 *
 * @param on.db for look-ups by an index
 * @param on.scans for queries that may read many rows
 */
export function linkPages(on: { db: Kysely<Schema>; scans: Scans; findPage: FindPage }): LinkPages {
  const { db, scans, findPage } = on
  const beginFor = ({ workspaceId, signal }: LinkFilter) =>
    scans.begin(workspaceId, { msMax: SCAN_MS_MAX, signal })

  /** Reads a filtered page, or one in another order, by scanning all of the workspace's links. */
  async function pageByScan(query: LinkQuery): Promise<Page<Link>> {
    const scan = beginFor(query)
    const { seqs, total } = await findPage(scans, query, scan)
    return { items: await linksOf(seqs, scan), total }
  }

  async function linksOf(seqs: readonly number[], scan: Scan): Promise<readonly Link[]> {
    if (seqs.length === 0) return []
    const links = await scan.turn(async () => {
      const rows = await selectLinks(scans.db).where('links.seq', 'in', seqs).execute()
      return withCounters(scans.db, rows)
    })
    const bySeq = new Map(links.map((link) => [link.seq, link]))
    return seqs.flatMap((seq) => bySeq.get(seq) ?? [])
  }

  async function runByIndex(run: LinkRun): Promise<Run<Link, number>> {
    const rows = await selectLinks(db)
      .where('links.workspace_id', '=', run.workspaceId)
      .$if(run.beyond !== undefined, (qb) =>
        qb.where('links.seq', run.descending ? '<' : '>', run.beyond ?? 0),
      )
      .orderBy('links.seq', run.descending ? 'desc' : 'asc')
      .limit(run.limit + 1)
      .execute()
    const kept = rows.slice(0, run.limit)
    const rest = rows.length > run.limit ? kept.at(-1)?.seq : undefined
    return { items: await withCounters(db, kept), rest }
  }

  async function runByScan(run: LinkRun): Promise<Run<Link, number>> {
    const scan = beginFor(run)
    const seqs = await findRun(scans, run, scan)
    const kept = seqs.slice(0, run.limit)
    // Based on the numbers found: a link that is deleted before it is read must not end the list.
    const rest = seqs.length > run.limit ? kept.at(-1) : undefined
    return { items: await linksOf(kept, scan), rest }
  }

  async function countByScan(filter: LinkFilter): Promise<number> {
    return countInSlices(scans, filter, beginFor(filter))
  }

  return {
    page: (query) => (needsScan(query) ? pageByScan(query) : pageByAge(db, query)),
    run: (run) => (isFiltered(run) ? runByScan(run) : runByIndex(run)),
    count: (filter) =>
      isFiltered(filter) ? countByScan(filter) : countLinks(db, filter.workspaceId),
  }
}

/**
 * Reads a page in order of creation. A plain OFFSET reads every row before the page; the buckets
 * locate the start of the page, so that at most one bucket's rows are skipped.
 */
async function pageByAge(db: Kysely<Schema>, query: LinkQuery): Promise<Page<Link>> {
  const { workspaceId, offset, limit } = query
  const direction = query.sort.descending ? 'desc' : 'asc'
  const start = await db
    .with('running', (eb) =>
      eb
        .selectFrom('link_buckets')
        .select([
          'bucket',
          'links',
          sql<number>`cast(sum(links) over (order by bucket ${sql.raw(direction)}) as bigint)`.as(
            'until',
          ),
        ])
        .where('workspace_id', '=', workspaceId),
    )
    .selectFrom('running')
    .select(['bucket', (eb) => eb('until', '-', eb.ref('links')).as('before')])
    .where('until', '>', offset)
    // An emptied bucket has the same `until` as the one before it.
    .where('links', '>', 0)
    .orderBy('until')
    .limit(1)
    .executeTakeFirst()
  if (start === undefined) return { items: [], total: await countLinks(db, workspaceId) }

  const rows = await selectLinks(db)
    .where('links.workspace_id', '=', workspaceId)
    .where(
      'links.seq',
      query.sort.descending ? '<' : '>=',
      query.sort.descending
        ? (start.bucket + 1) * LINKS_PER_BUCKET
        : start.bucket * LINKS_PER_BUCKET,
    )
    .orderBy('links.seq', direction)
    .limit(limit)
    .offset(offset - start.before)
    .execute()
  return { items: await withCounters(db, rows), total: await countLinks(db, workspaceId) }
}

async function countLinks(db: Kysely<Schema>, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('link_buckets')
    .select(sql<number | null>`cast(sum(links) as bigint)`.as('total'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return row?.total ?? 0
}
