import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'

/** A place in a node's click journal: everything before it has been taken in. */
export type JournalPosition = {
  readonly segment: number
  readonly offset: number
}

export type ClickStore = {
  /** Undefined for a journal from which nothing has been taken in. */
  findPosition(journalId: string): Promise<JournalPosition | undefined>
}

export function clickStore(db: Kysely<Schema>): ClickStore {
  return { findPosition: (journalId) => findPosition(db, journalId) }
}

export function findPosition(
  db: Kysely<Schema>,
  journalId: string,
): Promise<JournalPosition | undefined> {
  return db
    .selectFrom('journal_positions')
    .select(['segment', 'position as offset'])
    .where('journal_id', '=', journalId)
    .executeTakeFirst()
}

/**
 * Moves a journal's position. False when it no longer stands at `from`: then another process has
 * taken the same clicks in.
 */
export async function movePosition(
  db: Kysely<Schema>,
  move: {
    journalId: string
    from: JournalPosition | undefined
    to: JournalPosition
    atMicros: number
  },
): Promise<boolean> {
  const { journalId, from, to } = move
  const values = { segment: to.segment, position: to.offset, updated_at: move.atMicros }
  if (from === undefined) {
    const inserted = await db
      .insertInto('journal_positions')
      .values({ journal_id: journalId, ...values })
      .onConflict((conflict) => conflict.column('journal_id').doNothing())
      .returning('journal_id')
      .executeTakeFirst()
    return inserted !== undefined
  }
  const result = await db
    .updateTable('journal_positions')
    .set(values)
    .where('journal_id', '=', journalId)
    .where('segment', '=', from.segment)
    .where('position', '=', from.offset)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}
