import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import { foldKey } from '../domain/links/key.ts'
import type { Link, NewLink } from '../domain/links/link.ts'
import {
  type LinkQuery,
  type LinkSortField,
  type LinkStore,
  needsScan,
} from '../domain/links/link-store.ts'
import type { Page } from '../domain/page.ts'
import { StaleRow } from '../domain/store.ts'
import type { Pending } from './pending-writes.ts'
import { LINKS_PER_BUCKET, type Schema } from './schema.ts'
import { statement } from './statement.ts'

const COUNTERS = ['link_seq', 'clicks', 'last_click'] as const

const insertLink = statement((db, row: ReturnType<typeof toRow>) => insertInto(db, row))

const insertLinkReturning = statement((db, row: ReturnType<typeof toRow>) =>
  insertInto(db, row).returning('seq'),
)

const findById = statement((db, owned: { workspaceId: string; id: string }) =>
  selectLinks(db)
    .where('links.id', '=', owned.id)
    .where('links.workspace_id', '=', owned.workspaceId),
)

const findCount = statement((db, { seq }: { seq: number }) =>
  db.selectFrom('link_clicks').select(COUNTERS).where('link_seq', '=', seq),
)

/**
 * @param on.db for look-ups by an index
 * @param on.scans for queries that may look at many rows
 * @param on.tellsInsertId whether an insert tells the new row's number without `returning`
 */
export function linkStore(on: {
  db: Kysely<Schema>
  scans: Kysely<Schema>
  pending: Pending
  tellsInsertId: boolean
}): LinkStore {
  const { db, scans, pending } = on

  async function find(workspaceId: string, id: string): Promise<Link | undefined> {
    const [link] = await withCounters(db, (await findById(db, { workspaceId, id })).rows)
    return link
  }

  /** The new row's number; undefined when the key is taken. */
  async function insertRow(row: ReturnType<typeof toRow>): Promise<number | undefined> {
    if (!on.tellsInsertId) return (await insertLinkReturning(db, row)).rows[0]?.seq
    const { numAffectedRows, insertId } = await insertLink(db, row)
    return numAffectedRows === 0n ? undefined : Number(insertId)
  }

  async function insertTags(link: Pick<Link, 'workspace_id' | 'seq' | 'tags'>): Promise<void> {
    if (link.tags.length === 0) return
    const rows = link.tags.map((tag) => ({
      workspace_id: link.workspace_id,
      tag,
      tag_folded: foldKey(tag),
      link_seq: link.seq,
    }))
    await db.insertInto('link_tags').values(rows).execute()
  }

  async function deleteTags({ workspace_id, seq }: Pick<Link, 'workspace_id' | 'seq'>) {
    await db
      .deleteFrom('link_tags')
      .where('workspace_id', '=', workspace_id)
      .where('link_seq', '=', seq)
      .execute()
  }

  /** @throws {StaleRow} when it was changed since it was read */
  async function deleteRow(link: Link): Promise<void> {
    const result = await db.deleteFrom('links').where(isAsRead(link)).executeTakeFirst()
    if (result.numDeletedRows === 0n) throw new StaleRow()
  }

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

  return {
    findById: find,

    async insert(link) {
      const seq = await insertRow(toRow(link))
      if (seq === undefined) return undefined
      const complete = { ...link, seq, clicks: 0, last_click: null }
      await insertTags(complete)
      pending.countLink(link.workspace_id, seq, 1)
      return complete
    },

    async update(link, before) {
      const row = toRow(link)
      const { id, workspace_id, created_at, key_folded, ...values } = row
      if (key_folded === foldKey(before.key)) {
        const result = await db
          .updateTable('links')
          .set(values)
          .where(isAsRead(before))
          .executeTakeFirst()
        if (result.numUpdatedRows === 0n) throw new StaleRow()
      } else {
        // The folded key says on which shard a row lies, where there are shards; so the row moves.
        await deleteRow(before)
        const { seq, created_at, id, workspace_id } = before
        const moved = { ...row, seq, created_at, id, workspace_id }
        await db.insertInto('links').values(moved).execute()
      }
      await deleteTags(link)
      await insertTags(link)
    },

    async delete(workspaceId, id) {
      const link = await find(workspaceId, id)
      if (link === undefined) return undefined
      await deleteRow(link)
      await deleteTags(link)
      pending.countLink(workspaceId, link.seq, -1)
      return link
    },

    async page(query) {
      await pending.write()
      return needsScan(query) ? pageByScan(query) : pageByAge(query)
    },
  }
}

function insertInto(db: Kysely<Schema>, row: ReturnType<typeof toRow>) {
  return db
    .insertInto('links')
    .values(row)
    .onConflict((conflict) => conflict.columns(['keyspace_id', 'key_folded', 'key']).doNothing())
}

/** Links with the host that they live on. */
function selectLinks(db: Kysely<Schema>) {
  return db
    .selectFrom('links')
    .innerJoin('keyspaces', 'keyspaces.id', 'links.keyspace_id')
    .selectAll('links')
    .select('keyspaces.host as domain')
}

/** The row with everything that it had when it was read. */
function isAsRead({ seq, key, updated_at }: Link) {
  return (eb: ExpressionBuilder<Schema, 'links'>) =>
    eb.and({ seq, key_folded: foldKey(key), updated_at })
}

/** The links of these rows. Counters lie by links' numbers, wherever the links lie, so they are looked up apart. */
async function withCounters(db: Kysely<Schema>, rows: readonly LinkRow[]): Promise<Link[]> {
  if (rows.length === 0) return []
  const counted =
    rows.length === 1 && rows[0] !== undefined
      ? (await findCount(db, { seq: rows[0].seq })).rows
      : await findCounts(db, rows)
  const bySeq = new Map(counted.map((count) => [count.link_seq, count]))
  return rows.map((row) => fromRow(row, bySeq.get(row.seq)))
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

function findCounts(db: Kysely<Schema>, rows: readonly { readonly seq: number }[]) {
  return db
    .selectFrom('link_clicks')
    .select(COUNTERS)
    .where(
      'link_seq',
      'in',
      rows.map(({ seq }) => seq),
    )
    .execute()
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

type LinkRow = Selectable<Schema['links']> & { domain: string }

function fromRow(row: LinkRow, counters: Schema['link_clicks'] | undefined): Link {
  const { key_folded, tags, ...link } = row
  const { clicks = 0, last_click = null } = counters ?? {}
  return { ...link, clicks, last_click, tags: JSON.parse(tags) }
}

function toRow(link: NewLink & Partial<Link>) {
  const { domain, seq, clicks, last_click, tags, ...row } = link
  return { ...row, key_folded: foldKey(link.key), tags: JSON.stringify(tags) }
}
