import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { foldKey } from '../domain/links/key.ts'
import type { Link } from '../domain/links/link.ts'
import { type LinkQuery, type LinkSortField, needsScan } from '../domain/links/link-store.ts'
import type { Page } from '../domain/page.ts'
import { selectLinks, withCounters } from './link-rows.ts'
import { LINKS_PER_BUCKET, type Schema } from './schema.ts'

/**
 * Reads pages of links, with the total; the counts of links must have been written before.
 *
 * @param on.db for look-ups by an index
 * @param on.scans for queries that may look at many rows
 */
export function linkPages(on: {
  db: Kysely<Schema>
  scans: Kysely<Schema>
}): (query: LinkQuery) => Promise<Page<Link>> {
  const { db, scans } = on

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

  /**
   * A page of what a filter leaves, or in another order: counted and sorted anew each time. The sort
   * carries nothing but numbers; the page's links are fetched after it.
   */
  async function pageByScan(query: LinkQuery): Promise<Page<Link>> {
    const direction = query.sort.descending ? 'desc' : 'asc'
    const counted = await scans
      .selectFrom('links')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where(matches(query))
      .executeTakeFirstOrThrow()
    const order = sortedBy(query.sort.field)
    const page = scans
      .selectFrom('links')
      .$if(isCounted(query.sort.field), (qb) =>
        qb.leftJoin('link_clicks', 'link_clicks.link_seq', 'links.seq'),
      )
      .select('links.seq')
      .where(matches(query))
      .orderBy(order, direction)
      .orderBy('links.seq', direction)
      .limit(query.limit)
      .offset(query.offset)
    const rows = await selectLinks(scans)
      .$if(isCounted(query.sort.field), (qb) =>
        qb.leftJoin('link_clicks', 'link_clicks.link_seq', 'links.seq'),
      )
      .where('links.seq', 'in', page)
      .orderBy(order, direction)
      .orderBy('links.seq', direction)
      .execute()
    return { items: await withCounters(scans, rows), total: counted.total }
  }

  return (query) => (needsScan(query) ? pageByScan(query) : pageByAge(query))
}

function matches(query: LinkQuery) {
  return (eb: ExpressionBuilder<Schema, 'links'>) => {
    const conditions = [eb('links.workspace_id', '=', query.workspaceId)]
    if (query.host !== undefined) {
      const keyspaces = eb
        .selectFrom('keyspaces')
        .select('keyspaces.id')
        .where('keyspaces.host', '=', query.host)
        .where((k) =>
          k.or([
            k('keyspaces.workspace_id', '=', query.workspaceId),
            k('keyspaces.workspace_id', 'is', null),
          ]),
        )
      conditions.push(eb('links.keyspace_id', 'in', keyspaces))
    }
    if (query.tag !== undefined) {
      const tagged = eb
        .selectFrom('link_tags')
        .select('link_tags.link_seq')
        .where('link_tags.workspace_id', '=', query.workspaceId)
        .where('link_tags.tag', '=', query.tag)
      conditions.push(eb('links.seq', 'in', tagged))
    }
    if (query.search !== undefined) {
      const pattern = `%${foldKey(query.search).replace(/[\\%_]/g, '\\$&')}%`
      const tagged = eb
        .selectFrom('link_tags')
        .select('link_tags.link_seq')
        .where('link_tags.workspace_id', '=', query.workspaceId)
        .where(sql<boolean>`link_tags.tag_folded like ${pattern} escape '\\'`)
      conditions.push(
        eb.or([
          sql<boolean>`links.key_folded like ${pattern} escape '\\'`,
          sql<boolean>`lower(links.url) like ${pattern} escape '\\'`,
          eb('links.seq', 'in', tagged),
        ]),
      )
    }
    return eb.and(conditions)
  }
}

/** Whether the field is kept beside the links. */
function isCounted(field: LinkSortField): boolean {
  return field === 'clicks' || field === 'last_click'
}

function sortedBy(field: LinkSortField) {
  // The engines disagree on where null belongs; here never clicked is always before clicked.
  if (field === 'last_click') return sql`coalesce(link_clicks.last_click, -1)`
  if (field === 'clicks') return sql`coalesce(link_clicks.clicks, 0)`
  return sql.ref(field === 'created_at' ? 'links.seq' : `links.${field}`)
}
