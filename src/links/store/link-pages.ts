import { type Kysely, sql } from 'kysely'
import type { Page, Run } from '../../platform/http/api/pagination.ts'
import { SCAN_MS_MAX, type Scan, type Scans } from '../../storage/scans.ts'
import { LINKS_PER_BUCKET, type Schema } from '../../storage/schema.ts'
import { foldKey } from '../key.ts'
import type { Link } from '../link.ts'
import {
  type HostCounts,
  hasAddress,
  type LinkFilter,
  type LinkQuery,
  type LinkRun,
  type LinkSortField,
  needsScan,
} from '../link-query.ts'
import { isArchived, isCounted, keyspacesOf, matches, sortedBy } from './link-matches.ts'
import { selectLinks, withCounters } from './link-rows.ts'
import { countByHost, countInSlices, type FindPage, findRun } from './link-scan.ts'

/** Runs statements on a connection; a scan's statements wait for its turn. */
type Read = <T>(work: (on: Kysely<Schema>) => Promise<T>) => Promise<T>

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
export function linkPages(on: {
  db: Kysely<Schema>
  scans: Scans
  findPage: FindPage
}): LinkPages & { countByHost(counts: HostCounts): Promise<ReadonlyMap<string, number>> } {
  const { db, scans, findPage } = on
  const byKey = pagesByKey(on)
  const beginFor = (filter: LinkFilter) => beginScan(scans, filter)

  /** Reads a filtered page, or one in another order, by scanning all of the workspace's links. */
  async function pageByScan(query: LinkQuery): Promise<Page<Link>> {
    const scan = beginFor(query)
    const { seqs, total } = await findPage(scans, query, scan)
    return { items: await linksOf(seqs, (work) => scan.turn(() => work(scans.db))), total }
  }

  async function runByIndex(run: LinkRun): Promise<Run<Link, number>> {
    const rows = await selectLinks(db)
      .where('links.workspace_id', '=', run.workspaceId)
      .$if(run.archived === false, (qb) => qb.where((eb) => isArchived(eb, false)))
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
    return runOf(seqs, run.limit, (work) => scan.turn(() => work(scans.db)))
  }

  async function countByScan(filter: LinkFilter): Promise<number> {
    return countInSlices(scans, filter, beginFor(filter))
  }

  return {
    page(query) {
      if (query.key !== undefined) return byKey.page(query)
      return needsScan(query, query.sort.field) ? pageByScan(query) : pageByAge(db, query)
    },
    run(run) {
      if (run.key !== undefined) return byKey.run(run)
      return needsScan(run) ? runByScan(run) : runByIndex(run)
    },
    count(filter) {
      if (filter.key !== undefined) return byKey.count(filter)
      return needsScan(filter) ? countByScan(filter) : countLinks(db, filter)
    },
    countByHost: (counts) => countByHost(scans, counts, beginScan(scans, counts)),
  }
}

/**
 * Reads the links that have a key, at most one of each keyspace: at an address directly, on any domain in a turn, which
 * takes a look-up for each domain of the workspace.
 */
function pagesByKey({ db, scans }: { db: Kysely<Schema>; scans: Scans }): LinkPages {
  function readerFor(filter: LinkFilter): Read {
    if (hasAddress(filter)) return (work) => work(db)
    const scan = beginScan(scans, filter)
    return (work) => scan.turn(() => work(scans.db))
  }

  return {
    async page(query) {
      const read = readerFor(query)
      const seqs = await read((on) => findByKey(on, query, query.sort))
      const shown = seqs.slice(query.offset, query.offset + query.limit)
      return { items: await linksOf(shown, read), total: seqs.length }
    },

    async run(run) {
      const { descending, beyond } = run
      const read = readerFor(run)
      const seqs = await read((on) => findByKey(on, run, { field: 'created_at', descending }))
      const isBeyond = (seq: number) =>
        beyond === undefined || (descending ? seq < beyond : seq > beyond)
      return runOf(seqs.filter(isBeyond), run.limit, read)
    },

    async count(filter) {
      const sort = { field: 'created_at', descending: true } as const
      return (await readerFor(filter)((on) => findByKey(on, filter, sort))).length
    },
  }
}

/** Returns the numbers of the links that have the filter's key and meet its other conditions. */
async function findByKey(
  db: Kysely<Schema>,
  filter: LinkFilter,
  { field, descending }: { readonly field: LinkSortField; readonly descending: boolean },
): Promise<readonly number[]> {
  const { workspaceId, hosts, key = '' } = filter
  // Without the workspace's condition, whose index a planner without statistics prefers.
  const named = await db
    .selectFrom('links')
    .select('links.seq')
    .where('links.keyspace_id', 'in', (eb) => keyspacesOf(eb, workspaceId, hosts))
    .where('links.key_folded', '=', foldKey(key))
    .where('links.key', '=', key)
    .execute()
  if (named.length === 0) return []
  const seqs = named.map(({ seq }) => seq)
  const range = { after: Math.min(...seqs) - 1, before: Math.max(...seqs) + 1 }
  const direction = descending ? 'desc' : 'asc'
  const rows = await db
    .selectFrom('links')
    .$if(isCounted(field), (qb) => qb.leftJoin('link_clicks', 'link_clicks.link_seq', 'links.seq'))
    .select('links.seq')
    .where('links.seq', 'in', seqs)
    .where(matches(filter, range))
    .orderBy(sortedBy(field), direction)
    .orderBy('links.seq', direction)
    .execute()
  return rows.map(({ seq }) => seq)
}

function beginScan(
  scans: Scans,
  { workspaceId, signal }: Pick<LinkFilter, 'workspaceId' | 'signal'>,
): Scan {
  return scans.begin(workspaceId, { msMax: SCAN_MS_MAX, signal })
}

async function runOf(
  seqs: readonly number[],
  limit: number,
  read: Read,
): Promise<Run<Link, number>> {
  const kept = seqs.slice(0, limit)
  // Based on the numbers found: a link that is deleted before it is read must not end the list.
  const rest = seqs.length > limit ? kept.at(-1) : undefined
  return { items: await linksOf(kept, read), rest }
}

async function linksOf(seqs: readonly number[], read: Read): Promise<readonly Link[]> {
  if (seqs.length === 0) return []
  const links = await read(async (on) => {
    const rows = await selectLinks(on).where('links.seq', 'in', seqs).execute()
    return withCounters(on, rows)
  })
  const bySeq = new Map(links.map((link) => [link.seq, link]))
  return seqs.flatMap((seq) => bySeq.get(seq) ?? [])
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
          listed(query).as('links'),
          sql<number>`cast(sum(${listed(query)}) over (order by bucket ${sql.raw(direction)}) as bigint)`.as(
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
  if (start === undefined) return { items: [], total: await countLinks(db, query) }

  const rows = await selectLinks(db)
    .where('links.workspace_id', '=', workspaceId)
    .$if(query.archived === false, (qb) => qb.where((eb) => isArchived(eb, false)))
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
  return { items: await withCounters(db, rows), total: await countLinks(db, query) }
}

/** The links of a bucket that a list without other conditions has. */
function listed({ archived }: Pick<LinkFilter, 'archived'>) {
  return archived === false ? sql<number>`links - archived` : sql<number>`links`
}

async function countLinks(
  db: Kysely<Schema>,
  filter: Pick<LinkFilter, 'workspaceId' | 'archived'>,
): Promise<number> {
  const row = await db
    .selectFrom('link_buckets')
    .select(sql<number | null>`cast(sum(${listed(filter)}) as bigint)`.as('total'))
    .where('workspace_id', '=', filter.workspaceId)
    .executeTakeFirst()
  return row?.total ?? 0
}
