import { type Kysely, sql } from 'kysely'
import type { Scan } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import { CLICK_DIMENSIONS, type Click } from '../click.ts'
import type { ClickScope, Counts, RawClick } from '../report/day-of-clicks.ts'

/** Which raw clicks of a day are read. */
export type RawDayQuery = {
  readonly scope: ClickScope
  readonly day: number
  /** Included. */
  readonly fromMicros: number
  /** Excluded. */
  readonly toMicros: number
  readonly scan: Scan
}

/** The clicks of a link. */
export type LinkCounts = Counts & { readonly linkSeq: number }

/** How an engine reads the raw clicks of a day, in short turns. */
export type RawClickSource = {
  pages(query: RawDayQuery): AsyncIterable<readonly RawClickRow[]>
  /** Adds clicks up by link, in the database. A link may come several times. */
  linkCounts(query: RawDayQuery): AsyncIterable<readonly LinkCounts[]>
}

/** The columns to read of a raw click. */
export const RAW_CLICK_COLUMNS = [
  'at',
  'link_seq',
  'keyspace_id',
  'flags',
  'count',
  'visitor',
  ...CLICK_DIMENSIONS,
] as const

/** What is removed of the clicks: counters, charts and raw rows. */
export type ErasedClicks =
  | { readonly kind: 'links'; readonly linkSeqs: readonly number[] }
  /** All of a workspace whose links are deleted. */
  | { readonly kind: 'workspace'; readonly workspaceId: string }

/** A stored raw click. */
export type RawClickRow = Click & { readonly keyspace_id: number | null }

/** A click of a link that existed when it was stored. */
export type OwnedClick = RawClickRow & { readonly workspace_id: string }

/** Adds the current ids, keys and hosts of the links to clicks. */
export async function addLinkNames(
  db: Kysely<Schema>,
  page: readonly RawClickRow[],
): Promise<readonly RawClick[]> {
  const seqs = [...new Set(page.map(({ link_seq }) => link_seq))]
  const keyspaces = [...new Set(page.flatMap(({ keyspace_id }) => keyspace_id ?? []))]
  const links = new Map(
    (
      await db.selectFrom('links').select(['seq', 'id', 'key']).where('seq', 'in', seqs).execute()
    ).map((link) => [link.seq, link]),
  )
  const hosts = new Map(
    (
      await db
        .selectFrom('keyspaces')
        .select(['id', 'host'])
        .where('id', 'in', keyspaces.length === 0 ? [sql<number>`null`] : keyspaces)
        .execute()
    ).map(({ id, host }) => [id, host]),
  )
  return page.map(({ keyspace_id, ...click }) => {
    const link = links.get(click.link_seq)
    return {
      ...click,
      link_id: link?.id ?? null,
      key: link?.key ?? null,
      host: (keyspace_id !== null && hosts.get(keyspace_id)) || null,
    }
  })
}
