import { type Kysely, sql } from 'kysely'
import type { Link } from '../domain/links/link.ts'
import { type LinkQuery, needsScan } from '../domain/links/link-store.ts'
import type { Page } from '../domain/page.ts'
import { SCAN_MS_MAX } from '../domain/scan-too-long.ts'
import { selectLinks, withCounters } from './link-rows.ts'
import type { FindPage } from './link-scan.ts'
import type { Scans } from './scans.ts'
import { LINKS_PER_BUCKET, type Schema } from './schema.ts'

/**
 * Reads pages of links, with the total; the counts of links must have been written before.
 *
 * @param on.db for look-ups by an index
 * @param on.scans for queries that may look at many rows
 */
export function linkPages(on: {
  db: Kysely<Schema>
  scans: Scans
  findPage: FindPage
}): (query: LinkQuery) => Promise<Page<Link>> {
  const { db, scans, findPage } = on

  async function total(workspaceId: string): Promise<number> {
    const row = await db
      .selectFrom('link_buckets')
      .select(sql<number | null>`cast(sum(links) as bigint)`.as('total'))
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirst()
    return row?.total ?? 0
  }

  /**
   * A page in the order of creation. A plain OFFSET walks every row before the page; here the buckets
   * tell where the page begins, so that at most one bucket's rows are walked.
   */
  async function pageByAge(query: LinkQuery): Promise<Page<Link>> {
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
    if (start === undefined) return { items: [], total: await total(workspaceId) }

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
    return { items: await withCounters(db, rows), total: await total(workspaceId) }
  }

  /** A page of what a filter leaves, or in another order: looked for among all links each time. */
  async function pageByScan(query: LinkQuery): Promise<Page<Link>> {
    const scan = scans.begin(query.workspaceId, SCAN_MS_MAX)
    const { seqs, total } = await findPage(scans, query, scan)
    if (seqs.length === 0) return { items: [], total }
    const links = await scan.turn(async () => {
      const rows = await selectLinks(scans.db).where('links.seq', 'in', seqs).execute()
      return withCounters(scans.db, rows)
    })
    const bySeq = new Map(links.map((link) => [link.seq, link]))
    return { items: seqs.flatMap((seq) => bySeq.get(seq) ?? []), total }
  }

  return (query) => (needsScan(query) ? pageByScan(query) : pageByAge(query))
}
