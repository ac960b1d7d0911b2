import type { CompiledQuery, ExpressionBuilder, Kysely } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import { foldKey } from '../key.ts'
import type { Link, UncountedLink } from '../link.ts'
import { toRow } from './link-rows.ts'

export function insertTags(
  db: Kysely<Schema>,
  link: Pick<Link, 'workspace_id' | 'seq' | 'tags'>,
): CompiledQuery[] {
  if (link.tags.length === 0) return []
  const rows = link.tags.map((tag) => ({
    workspace_id: link.workspace_id,
    tag,
    tag_folded: foldKey(tag),
    link_seq: link.seq,
  }))
  return [db.insertInto('link_tags').values(rows).compile()]
}

export function deleteTags(
  db: Kysely<Schema>,
  { workspace_id, seq }: Pick<Link, 'workspace_id' | 'seq'>,
): CompiledQuery {
  return db
    .deleteFrom('link_tags')
    .where('workspace_id', '=', workspace_id)
    .where('link_seq', '=', seq)
    .compile()
}

/**
 * Returns statements that replace the row as it was read. The first one affects no row when the
 * row has changed.
 */
export function updateRow(
  db: Kysely<Schema>,
  link: UncountedLink,
  before: UncountedLink,
): [CompiledQuery, ...CompiledQuery[]] {
  const row = toRow(link)
  const { id, workspace_id, created_at, key_folded, ...values } = row
  if (key_folded === foldKey(before.key)) {
    return [db.updateTable('links').set(values).where(isAsRead(before)).compile()]
  }
  // The folded key determines the row's shard, so the row is deleted and inserted again.
  const { seq } = before
  const ids = { id: before.id, workspace_id: before.workspace_id, created_at: before.created_at }
  const moved = db.insertInto('links').values({ ...row, seq, ...ids })
  return [deleteRow(db, before), moved.compile()]
}

export function deleteRow(db: Kysely<Schema>, link: UncountedLink): CompiledQuery {
  return db.deleteFrom('links').where(isAsRead(link)).compile()
}

export function insertInto(db: Kysely<Schema>, row: ReturnType<typeof toRow>) {
  return db
    .insertInto('links')
    .values(row)
    .onConflict((conflict) => conflict.columns(['keyspace_id', 'key_folded', 'key']).doNothing())
}

/** Matches the row only if it is unchanged since it was read. */
function isAsRead({ seq, key, updated_at }: UncountedLink) {
  return (eb: ExpressionBuilder<Schema, 'links'>) =>
    eb.and({ seq, key_folded: foldKey(key), updated_at })
}
