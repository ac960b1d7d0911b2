import { type Kysely, sql } from 'kysely'
import { SCAN_MS_MAX, type Scans, ScanTooLong } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import { pipeline } from '../../storage/statement.ts'
import { StaleRow } from '../../storage/store.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'
import { foldKey } from '../key.ts'
import type { UncountedLink } from '../link.ts'
import { countOfWrite, selectLinks, uncounted } from './link-rows.ts'

/** How many links carry a tag. */
export type TagCount = { readonly tag: string; readonly links: number }

/** New tags of a link, for which it was read as `before`. */
export type RetaggedLink = { readonly before: UncountedLink; readonly after: UncountedLink }

export type TagStore = {
  /**
   * Counts the links of each tag of a workspace. Its cost grows with the number of tags of all links.
   *
   * @param search text within the tag, whatever its letter case
   * @throws {ScanTooLong} when it must read for too long, or too many tags are found
   */
  count(workspaceId: string, search?: string): Promise<readonly TagCount[]>
  /** Returns some of the links that carry a tag, the same ones while nothing changes. */
  findLinks(workspaceId: string, tag: string, limit: number): Promise<readonly UncountedLink[]>
  /**
   * Updates the tags and `updated_at` of links of one workspace.
   *
   * @throws {StaleRow} when one of them was changed since it was read
   */
  retag(links: readonly RetaggedLink[]): Promise<void>
}

/** Rows of a turn: some milliseconds. */
const SLICE_ROWS = 16_384
/** Different tags in memory. */
const TAGS_MAX = 100_000

type Mark = { readonly tag: string; readonly link_seq: number }

/** @param on.scans for queries that may read many rows */
export function tagStore(on: { db: Kysely<Schema>; scans: Scans; writes: WriteBuffer }): TagStore {
  const { db, scans, writes } = on
  return {
    async count(workspaceId, search) {
      // A workspace without tags does not wait for a turn.
      const isTagged = await hasTags(db, workspaceId)
      return isTagged ? countTags(scans, workspaceId, search) : []
    },

    async findLinks(workspaceId, tag, limit) {
      const tagged = await db
        .selectFrom('link_tags')
        .select('link_seq')
        .where('workspace_id', '=', workspaceId)
        .where('tag', '=', tag)
        .orderBy('link_seq')
        .limit(limit)
        .execute()
      if (tagged.length === 0) return []
      const seqs = tagged.map(({ link_seq }) => link_seq)
      const rows = await selectLinks(db).where('links.seq', 'in', seqs).execute()
      return rows.map(uncounted)
    },

    async retag(links) {
      const [{ before: first } = {}] = links
      if (first === undefined) return
      const added = links.flatMap(({ after }) => rowsOf(after))
      const [updated] = await pipeline(db, [
        updateTags(db, links),
        db
          .deleteFrom('link_tags')
          .where('workspace_id', '=', first.workspace_id)
          .where(
            'link_seq',
            'in',
            links.map(({ before }) => before.seq),
          )
          .compile(),
        ...(added.length === 0 ? [] : [db.insertInto('link_tags').values(added).compile()]),
      ])
      if (updated.numAffectedRows !== BigInt(links.length)) throw new StaleRow()
      for (const { before, after } of links) {
        writes.countLink(countOfWrite({ before, after }))
      }
    },
  }
}

async function hasTags(db: Kysely<Schema>, workspaceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('link_tags')
    .select('link_seq')
    .where('workspace_id', '=', workspaceId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function countTags(
  { db, begin }: Scans,
  workspaceId: string,
  search: string | undefined,
): Promise<readonly TagCount[]> {
  const scan = begin(workspaceId, { msMax: SCAN_MS_MAX })
  const counts = new Map<string, number>()
  let mark: Mark | undefined
  do {
    mark = await scan.turn(async () => {
      const end = await endOfSlice(db, workspaceId, mark)
      for (const { tag, links } of await countSlice(db, { workspaceId, search, mark, end })) {
        counts.set(tag, (counts.get(tag) ?? 0) + links)
      }
      return end
    })
    if (counts.size > TAGS_MAX) throw new ScanTooLong()
  } while (mark !== undefined)
  return [...counts].map(([tag, links]) => ({ tag, links }))
}

/** Returns the last row of a slice; undefined for the last slice. */
async function endOfSlice(
  db: Kysely<Schema>,
  workspaceId: string,
  mark: Mark | undefined,
): Promise<Mark | undefined> {
  return db
    .selectFrom('link_tags')
    .select(['tag', 'link_seq'])
    .where('workspace_id', '=', workspaceId)
    .$if(mark !== undefined, (qb) => qb.where(isBehind(mark)))
    .orderBy('tag')
    .orderBy('link_seq')
    .limit(1)
    .offset(SLICE_ROWS)
    .executeTakeFirst()
}

function countSlice(
  db: Kysely<Schema>,
  slice: {
    workspaceId: string
    search: string | undefined
    mark: Mark | undefined
    end: Mark | undefined
  },
): Promise<readonly TagCount[]> {
  const { workspaceId, search, mark, end } = slice
  const pattern = `%${foldKey(search ?? '').replace(/[\\%_]/g, '\\$&')}%`
  return db
    .selectFrom('link_tags')
    .select(['tag', (eb) => eb.fn.countAll<number>().as('links')])
    .where('workspace_id', '=', workspaceId)
    .$if(mark !== undefined, (qb) => qb.where(isBehind(mark)))
    .$if(end !== undefined, (qb) => qb.where((eb) => eb.not(isBehind(end))))
    .$if(search !== undefined, (qb) =>
      qb.where(sql<boolean>`tag_folded like ${pattern} escape '\\'`),
    )
    .groupBy('tag')
    .execute()
}

function isBehind(mark: Mark | undefined) {
  return sql<boolean>`(tag, link_seq) > (${mark?.tag ?? ''}, ${mark?.link_seq ?? 0})`
}

function updateTags(db: Kysely<Schema>, links: readonly RetaggedLink[]) {
  const values = links.map(
    ({ before, after }) =>
      sql`(cast(${before.seq} as bigint), cast(${foldKey(before.key)} as text), cast(${before.updated_at} as bigint),
        cast(${JSON.stringify(after.tags)} as text), cast(${after.updated_at} as bigint))`,
  )
  return sql`
    with retagged (seq, key_folded, read_at, tags, updated_at) as (values ${sql.join(values)})
    update links set tags = retagged.tags, updated_at = retagged.updated_at from retagged
    where links.seq = retagged.seq and links.key_folded = retagged.key_folded
      and links.updated_at = retagged.read_at`.compile(db)
}

function rowsOf({ workspace_id, seq, tags }: UncountedLink) {
  return tags.map((tag) => ({ workspace_id, tag, tag_folded: foldKey(tag), link_seq: seq }))
}
