import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/** A position in a click journal: everything before it is ingested. */
export type JournalPosition = {
  readonly segment: number
  readonly offset: number
}

export type ClickStore = {
  /** Undefined for a journal of which nothing is ingested. */
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
 * Moves a journal's position. Returns false if the position is not `from`: then another process has ingested
 * the same clicks.
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
