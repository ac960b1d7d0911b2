import { LINK_OPTION_FIELDS, LINK_TEXT_FIELDS } from '@terse/contract/link-fields'
import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { pipeline } from '../../storage/statement.ts'
import { type LockName, StaleRow } from '../../storage/store.ts'
import { RowInserts, type WriteBuffer } from '../../storage/write-buffer.ts'
import { foldKey } from '../key.ts'
import type { Link, NewLink, UncountedLink } from '../link.ts'
import { countOfWrite, toRow } from './link-rows.ts'

/** A key of a keyspace, and the link that has it. */
export type KeyHolder = Pick<Link, 'seq' | 'id' | 'workspace_id' | 'key'>

/** Reads and writes many links with few statements. */
export type LinkBatchStore = {
  /** Returns the links whose keys are among the given ones or differ from them only by letter case. */
  findHolders(keyspaceId: number, keys: readonly string[]): Promise<readonly KeyHolder[]>
  /** Returns the links that are in the workspace, and leaves out others. */
  findBySeqs(workspaceId: string, seqs: readonly number[]): Promise<readonly KeyHolder[]>
  /**
   * Inserts links in their order. The caller has read that their keys are free.
   *
   * @param variantsMax as for `LinkStore.insert`
   * @throws {StaleRow} when another transaction took one of the keys since, or added too many variants
   */
  insert(links: readonly NewLink[], variantsMax: number): Promise<readonly UncountedLink[]>
}

type LinkRow = ReturnType<typeof toRow>
type TagRow = Schema['link_tags']

const LINK_INSERTS = new RowInserts<LinkRow>(
  'links',
  [
    ...(['id', 'workspace_id', 'keyspace_id', 'key', 'key_folded', 'url'] as const),
    ...LINK_TEXT_FIELDS,
    ...LINK_OPTION_FIELDS,
    ...(['external_id', 'tags', 'rules', 'examples', 'managed_at'] as const),
    ...(['created_at', 'updated_at'] as const),
  ],
  (insert) =>
    insert
      .onConflict((conflict) => conflict.columns(['keyspace_id', 'key_folded', 'key']).doNothing())
      .returning(['seq', 'id']),
)

const TAG_INSERTS = new RowInserts<TagRow>('link_tags', [
  'workspace_id',
  'tag',
  'tag_folded',
  'link_seq',
])

/** @param on.lockName undefined when the engine runs one writing transaction at a time */
export function linkBatchStore(on: {
  readonly db: Kysely<Schema>
  readonly writes: WriteBuffer
  readonly lockName: LockName | undefined
}): LinkBatchStore {
  const { db, writes } = on

  async function findHolders(
    keyspaceId: number,
    keys: readonly string[],
  ): Promise<readonly KeyHolder[]> {
    if (keys.length === 0) return []
    return db
      .selectFrom('links')
      .select(['seq', 'id', 'workspace_id', 'key'])
      .where('keyspace_id', '=', keyspaceId)
      .where('key_folded', 'in', [...new Set(keys.map(foldKey))])
      .execute()
  }

  /** After the insert, and behind a lock: of transactions that add variants of one key, the later sees the earlier. */
  async function refuseTooMany(links: readonly NewLink[], variantsMax: number): Promise<void> {
    if (on.lockName === undefined) return
    for (const [keyspaceId, own] of Map.groupBy(links, ({ keyspace_id }) => keyspace_id)) {
      const keys = own.map(({ key }) => key)
      const crowded = [...variantsOf(await findHolders(keyspaceId, keys))].filter(
        ([, { length }]) => length > 1,
      )
      for (const [folded] of crowded.toSorted()) {
        await db.executeQuery(on.lockName(db, `link-variants ${keyspaceId}/${folded}`))
      }
      const folded = crowded.map(([key]) => key)
      const now = variantsOf(await findHolders(keyspaceId, folded))
      if (now.values().some(({ length }) => length > variantsMax)) throw new StaleRow()
    }
  }

  return {
    findHolders,

    async findBySeqs(workspaceId, seqs) {
      if (seqs.length === 0) return []
      return db
        .selectFrom('links')
        .select(['seq', 'id', 'workspace_id', 'key'])
        .where('workspace_id', '=', workspaceId)
        .where('seq', 'in', seqs)
        .execute()
    },

    async insert(links, variantsMax) {
      const inserts = LINK_INSERTS.queries(db, links.map(toRow))
      const results = await pipeline(
        db,
        inserts as readonly CompiledQuery<Pick<Link, 'seq' | 'id'>>[],
      )
      const seqs = new Map(results.flatMap(({ rows }) => rows.map(({ id, seq }) => [id, seq])))
      if (seqs.size < links.length) throw new StaleRow()
      await refuseTooMany(links, variantsMax)
      const inserted = links.map((link) => ({ ...link, seq: seqs.get(link.id) ?? 0 }))
      for (const query of TAG_INSERTS.queries(db, inserted.flatMap(tagRows))) {
        await writes.add(query)
      }
      for (const link of inserted) {
        writes.countLink(countOfWrite({ after: link }))
      }
      return inserted
    },
  }
}

function variantsOf(holders: readonly KeyHolder[]): ReadonlyMap<string, readonly KeyHolder[]> {
  return Map.groupBy(holders, ({ key }) => foldKey(key))
}

function tagRows({ workspace_id, seq, tags }: UncountedLink): readonly TagRow[] {
  return tags.map((tag) => ({ workspace_id, tag, tag_folded: foldKey(tag), link_seq: seq }))
}
