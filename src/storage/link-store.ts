import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { foldKey, KEY_VARIANTS_MAX } from '../domain/links/key.ts'
import type { Link } from '../domain/links/link.ts'
import type { LinkStore } from '../domain/links/link-store.ts'
import { storedBytes } from '../domain/links/stored-bytes.ts'
import { StaleRow } from '../domain/store.ts'
import { linkPages } from './link-pages.ts'
import { selectLinks, toRow, withCounters } from './link-rows.ts'
import type { FindPage } from './link-scan.ts'
import type { Pending } from './pending-writes.ts'
import type { Scans } from './scans.ts'
import type { Schema } from './schema.ts'
import { statement } from './statement.ts'

/** Keeps every other transaction that locks the same name waiting until this one ends. */
export type LockName = (tx: Kysely<Schema>, name: string) => Promise<void>

const insertLink = statement((db, row: ReturnType<typeof toRow>) => insertInto(db, row))

const insertLinkReturning = statement((db, row: ReturnType<typeof toRow>) =>
  insertInto(db, row).returning('seq'),
)

const findById = statement((db, owned: { workspaceId: string; id: string }) =>
  selectLinks(db)
    .where('links.id', '=', owned.id)
    .where('links.workspace_id', '=', owned.workspaceId),
)

const findVariants = statement((db, folded: { keyspaceId: number; foldedKey: string }) =>
  db
    .selectFrom('links')
    .select('seq')
    .where('keyspace_id', '=', folded.keyspaceId)
    .where('key_folded', '=', folded.foldedKey)
    .limit(sql.lit(KEY_VARIANTS_MAX + 1)),
)

/**
 * @param on.db for look-ups by an index
 * @param on.scans for queries that may look at many rows
 * @param on.tellsInsertId whether an insert tells the new row's number without `returning`
 * @param on.lockName undefined where one transaction writes at a time
 * @param on.skipLinkNumbers as `LinkStore.skipNumbers` does, on this engine
 */
export function linkStore(on: {
  db: Kysely<Schema>
  scans: Scans
  findPage: FindPage
  pending: Pending
  tellsInsertId: boolean
  lockName: LockName | undefined
  skipLinkNumbers: (db: Kysely<Schema>, seq: number) => Promise<void>
}): LinkStore {
  const { db, pending } = on
  const readPage = linkPages(on)

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

  return {
    findById: find,

    async insert(link) {
      const seq = await insertRow(toRow(link))
      if (seq === undefined) return undefined
      const complete = { ...link, seq, clicks: 0, last_click: null }
      await insertTags(complete)
      pending.countLink({ workspaceId: link.workspace_id, seq, links: 1, bytes: storedBytes(link) })
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
      const bytes = storedBytes(link) - storedBytes(before)
      const { workspace_id: workspaceId, seq } = before
      if (bytes !== 0) pending.countLink({ workspaceId, seq, links: 0, bytes })
    },

    async countVariants(keyspaceId, key) {
      const foldedKey = foldKey(key)
      await on.lockName?.(db, `link-variants ${keyspaceId}/${foldedKey}`)
      return (await findVariants(db, { keyspaceId, foldedKey })).rows.length
    },

    skipNumbers: (seq) => on.skipLinkNumbers(db, seq),

    async delete(workspaceId, id) {
      const link = await find(workspaceId, id)
      if (link === undefined) return undefined
      await deleteRow(link)
      await deleteTags(link)
      pending.countLink({ workspaceId, seq: link.seq, links: -1, bytes: -storedBytes(link) })
      return link
    },

    async page(query) {
      await pending.write()
      return readPage(query)
    },
  }
}

function insertInto(db: Kysely<Schema>, row: ReturnType<typeof toRow>) {
  return db
    .insertInto('links')
    .values(row)
    .onConflict((conflict) => conflict.columns(['keyspace_id', 'key_folded', 'key']).doNothing())
}

/** The row with everything that it had when it was read. */
function isAsRead({ seq, key, updated_at }: Link) {
  return (eb: ExpressionBuilder<Schema, 'links'>) =>
    eb.and({ seq, key_folded: foldKey(key), updated_at })
}
