import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { type NewPart, OPENING_BUCKET } from '../spool/spool-codec.ts'
import type { JournalPosition } from './click-store.ts'

/** Rows of one insert. */
const ROWS_PER_INSERT = 200
/** Parts of one read: at most some 300 KiB each, usually far less. */
const PARTS_PER_READ = 16
/** Parts of one delete, which other writers wait for. */
const PARTS_PER_DELETE = 500

/** The clicks of an import that are not counted yet. */
export type ClickSpool = {
  readonly id: string
  readonly workspace_id: string
  /**
   * `reading`: the import adds to it. `sealed`: it is complete, and being counted under `journal_id`. `counted`: all
   * of it is.
   */
  readonly state: 'reading' | 'sealed' | 'counted'
  /** The secret from which visitor numbers are made; null as soon as the spool is complete. */
  readonly visitor_key: string | null
  /** The name under which positions are stored, as that of a journal; null before it is complete. */
  readonly journal_id: string | null
  /** The sum of opening balances, and the links that have one. */
  readonly opening: number
  readonly opening_links: number
}

export type SpoolPart = NewPart & { readonly part: number }

/** A part of a spool: those after it have a higher bucket, or the same and a higher number. */
export type SpoolPosition = { readonly bucket: number; readonly part: number }

export type ClickSpoolStore = {
  find(id: string): Promise<ClickSpool | undefined>
  /** Creates the spool of an import unless there is one. Returns the stored one. */
  open(spool: NewSpool): Promise<ClickSpool>
  /**
   * Adds parts to a spool, in their order.
   *
   * @throws when the spool is complete
   */
  add(id: string, parts: readonly NewPart[]): Promise<void>
  /** Returns the first parts after a position; none at the end. */
  readAfter(id: string, position: SpoolPosition): Promise<readonly SpoolPart[]>
  /** Whether there are clicks in it, other than totals. */
  hasClicks(id: string): Promise<boolean>
  /** Removes some of the parts of a bucket. Returns whether there may be more. */
  clear(id: string, bucket: number): Promise<boolean>
  /** Declares a spool complete. */
  seal(id: string, as: SealedSpool): Promise<void>
  listSealed(): Promise<readonly ClickSpool[]>
  /** Removes some of the parts that are counted. Returns whether there may be more. */
  removeCounted(id: string, position: JournalPosition): Promise<boolean>
  markCounted(id: string): Promise<void>
  /** Removes some of the parts of a spool, and at last the spool itself. Returns whether there may be more. */
  remove(id: string): Promise<boolean>
}

type NewSpool = Pick<ClickSpool, 'id' | 'workspace_id'> & {
  readonly visitor_key: string
  readonly created_at: number
}

type SealedSpool = Pick<ClickSpool, 'opening' | 'opening_links'> & { readonly journal_id: string }

/** The position before the first part. */
const BEGINNING: SpoolPosition = { bucket: -1, part: 0 }

const COLUMNS = [
  'id',
  'workspace_id',
  'state',
  'visitor_key',
  'journal_id',
  'opening',
  'opening_links',
] as const

export function clickSpoolStore(db: Kysely<Schema>): ClickSpoolStore {
  const find = (id: string) =>
    db.selectFrom('click_spools').select(COLUMNS).where('id', '=', id).executeTakeFirst()

  return {
    find,

    async open({ id, ...spool }) {
      await db
        .insertInto('click_spools')
        .values({ id, ...spool, state: 'reading', parts: 0, opening: 0, opening_links: 0 })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
      const stored = await find(id)
      if (stored === undefined) throw new Error('the click spool was not created')
      return stored
    },

    add: (id, parts) => addParts(db, id, parts),

    readAfter: (id, position) =>
      partsAfter(db, id, position)
        .select(['bucket', 'part', 'clicks', 'data'])
        .limit(PARTS_PER_READ)
        .execute(),

    async hasClicks(id) {
      const parts = partsAfter(db, id, { bucket: OPENING_BUCKET, part: 0 })
      return (await parts.select('bucket').limit(1).executeTakeFirst()) !== undefined
    },

    clear: (id, bucket) =>
      deleteSome(db, id, { bucket, part: Number.MAX_SAFE_INTEGER }, { bucket, part: 0 }),

    async seal(id, sealed) {
      await db
        .updateTable('click_spools')
        .set({ ...sealed, state: 'sealed', visitor_key: null })
        .where('id', '=', id)
        .where('state', '=', 'reading')
        .execute()
    },

    listSealed: () =>
      db
        .selectFrom('click_spools')
        .select(COLUMNS)
        .where('state', '=', 'sealed')
        .orderBy('id')
        .execute(),

    removeCounted: (id, { segment, offset }) =>
      deleteSome(db, id, { bucket: segment, part: offset }),

    async markCounted(id) {
      await db.updateTable('click_spools').set({ state: 'counted' }).where('id', '=', id).execute()
    },

    async remove(id) {
      const end = { bucket: 2 ** 31 - 1, part: Number.MAX_SAFE_INTEGER }
      if (await deleteSome(db, id, end)) return true
      await db.deleteFrom('click_spools').where('id', '=', id).execute()
      return false
    },
  }
}

async function addParts(db: Kysely<Schema>, id: string, parts: readonly NewPart[]): Promise<void> {
  if (parts.length === 0) return
  // Locks the row: two processes that read the same source would number their parts alike.
  const numbered = await db
    .updateTable('click_spools')
    .set((eb) => ({ parts: eb('parts', '+', parts.length) }))
    .where('id', '=', id)
    .where('state', '=', 'reading')
    .returning('parts')
    .executeTakeFirst()
  if (numbered === undefined) throw new Error('the click spool does not exist, or is complete')
  const first = numbered.parts - parts.length + 1
  const rows = parts.map((part, nth) => ({ spool_id: id, part: first + nth, ...part }))
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const some = rows.slice(start, start + ROWS_PER_INSERT)
    await db.insertInto('click_spool_parts').values(some).execute()
  }
}

/** Selects the parts after a position, in order. */
function partsAfter(db: Kysely<Schema>, id: string, from: SpoolPosition) {
  return db
    .selectFrom('click_spool_parts')
    .where('spool_id', '=', id)
    .where(isAfter(from))
    .orderBy('bucket')
    .orderBy('part')
}

/** Deletes some of the selected parts. Their keys are read first: PostgreSQL has no `delete … limit`. */
async function deleteSome(
  db: Kysely<Schema>,
  id: string,
  upTo: SpoolPosition,
  from = BEGINNING,
): Promise<boolean> {
  const found = await partsAfter(db, id, from)
    .select(['bucket', 'part'])
    .where(isUpTo(upTo))
    .limit(PARTS_PER_DELETE)
    .execute()
  const last = found.at(-1)
  if (last === undefined) return false
  await db
    .deleteFrom('click_spool_parts')
    .where('spool_id', '=', id)
    .where(isAfter(from))
    .where(isUpTo(last))
    .execute()
  return found.length === PARTS_PER_DELETE
}

function isAfter({ bucket, part }: SpoolPosition) {
  return sql<boolean>`(bucket, part) > (${bucket}, ${part})`
}

function isUpTo({ bucket, part }: SpoolPosition) {
  return sql<boolean>`(bucket, part) <= (${bucket}, ${part})`
}
