import type { CompiledQuery, ExpressionBuilder, Kysely, Selectable } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { statement } from '../../storage/statement.ts'
import { foldKey } from '../key.ts'
import { type Link, type NewLink, storedBytes, type UncountedLink } from '../link.ts'
import { LINK_VALUE_COLUMNS, type LinkValues, linkValues } from '../link-dimensions.ts'
import { imageNameOf } from '../previews/image-name.ts'

type LinkRow = Selectable<Schema['links']> & { domain: string }

const COUNTERS = ['link_seq', 'clicks', 'last_click'] as const

export const findCount = statement((db, { seq }: { seq: number }) =>
  db.selectFrom('link_clicks').select(COUNTERS).where('link_seq', '=', seq),
)

/** Selects links with their host. */
export function selectLinks(db: Kysely<Schema>) {
  return db
    .selectFrom('links')
    .innerJoin('keyspaces', 'keyspaces.id', 'links.keyspace_id')
    .selectAll('links')
    .select('keyspaces.host as domain')
}

/**
 * Returns the links of these rows. Counters are stored by link number, independently of the links'
 * shard, so they are read separately.
 */
export async function withCounters(db: Kysely<Schema>, rows: readonly LinkRow[]): Promise<Link[]> {
  if (rows.length === 0) return []
  const counted =
    rows.length === 1 && rows[0] !== undefined
      ? (await findCount(db, { seq: rows[0].seq })).rows
      : await findCounts(db, rows)
  const bySeq = new Map(counted.map((count) => [count.link_seq, count]))
  return rows.map((row) => fromRow(row, bySeq.get(row.seq)))
}

/** Returns a link's row without its number. The counters and the host are in other tables. */
export function toRow(link: NewLink & Partial<Link>) {
  // In one step: each copy of what is left costs a microsecond.
  const {
    domain,
    seq,
    clicks,
    last_click,
    tags,
    rules,
    examples,
    archived,
    track_conversions,
    prevent_delete,
    ...row
  } = link
  return {
    ...row,
    key_folded: foldKey(link.key),
    archived: archived ? 1 : 0,
    track_conversions: numberOrNull(track_conversions),
    prevent_delete: prevent_delete ? 1 : 0,
    image_hash: imageNameOf(link.image)?.hash ?? null,
    tags: JSON.stringify(tags),
    rules: rules === null ? null : JSON.stringify(rules),
    examples: examples === null ? null : JSON.stringify(examples),
  }
}

function fromRow(row: LinkRow, counters: Schema['link_clicks'] | undefined): Link {
  return { ...uncounted(row), ...countersOf(counters) }
}

export function uncounted(row: LinkRow): UncountedLink {
  const { key_folded, image_hash, tags, rules, examples, archived, ...rest } = row
  const { track_conversions, prevent_delete, ...link } = rest
  return {
    ...link,
    archived: archived !== 0,
    track_conversions: booleanOrNull(track_conversions),
    prevent_delete: prevent_delete !== 0,
    tags: JSON.parse(tags),
    rules: rules === null ? null : JSON.parse(rules),
    examples: examples === null ? null : JSON.parse(examples),
  }
}

function numberOrNull(value: boolean | null): number | null {
  return value === null ? null : Number(value)
}

export function booleanOrNull(value: number | null): boolean | null {
  return value === null ? null : value !== 0
}

/**
 * Returns the counters of a link, which has no row before its first click. An instant of -1 stands for clicks whose
 * dates are unknown.
 */
export function countersOf(
  row: Schema['link_clicks'] | undefined,
): Pick<Link, 'clicks' | 'last_click'> {
  return {
    clicks: row?.clicks ?? 0,
    last_click: row === undefined || row.last_click === -1 ? null : row.last_click,
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

/** Returns the links that are in the workspace, and leaves out others. */
export async function findMany(
  db: Kysely<Schema>,
  workspaceId: string,
  ids: readonly string[],
): Promise<readonly UncountedLink[]> {
  if (ids.length === 0) return []
  const found = selectLinks(db)
    .where('links.workspace_id', '=', workspaceId)
    .where('links.id', 'in', ids)
  return (await found.execute()).map(uncounted)
}

/** Returns the links with these numbers, of all workspaces, by their numbers' order in `seqs`. */
export async function findBySeqs(
  db: Kysely<Schema>,
  seqs: readonly number[],
): Promise<readonly UncountedLink[]> {
  if (seqs.length === 0) return []
  const rows = await selectLinks(db).where('links.seq', 'in', seqs).execute()
  const found = new Map(rows.map((row) => [row.seq, uncounted(row)]))
  return seqs.flatMap((seq) => found.get(seq) ?? [])
}

/** Links whose values are read at once. */
const LINKS_PER_READ = 1_000

/** Returns what clicks on links are counted by, by the links' numbers. */
export async function readLinkValues(
  db: Kysely<Schema>,
  linkSeqs: readonly number[],
): Promise<ReadonlyMap<number, LinkValues>> {
  const values = new Map<number, LinkValues>()
  for (let first = 0; first < linkSeqs.length; first += LINKS_PER_READ) {
    const rows = await db
      .selectFrom('links')
      .select(['seq', ...LINK_VALUE_COLUMNS])
      .where('seq', 'in', linkSeqs.slice(first, first + LINKS_PER_READ))
      .execute()
    for (const row of rows) values.set(row.seq, linkValues(row))
  }
  return values
}

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

/** Returns what a write changes in the counts of its bucket. */
export function countOfWrite({ before, after }: { before?: UncountedLink; after?: UncountedLink }) {
  const { workspace_id: workspaceId = '', seq = 0 } = before ?? after ?? {}
  const sum = (of: (link: UncountedLink) => number) =>
    (after === undefined ? 0 : of(after)) - (before === undefined ? 0 : of(before))
  return {
    workspaceId,
    seq,
    links: sum(() => 1),
    archived: sum(({ archived }) => (archived ? 1 : 0)),
    bytes: sum(storedBytes),
  }
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
