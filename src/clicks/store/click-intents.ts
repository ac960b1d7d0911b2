import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { ClickBatch } from '../click-writer.ts'
import type { BatchDeltas, OwnerOf } from './batch-deltas.ts'
import { findPosition, type JournalPosition } from './click-store.ts'

/**
 * What the main database does for clicks that are stored elsewhere: it has the counters of links and the journals'
 * positions. As no transaction spans both, a batch is recorded here before it is stored there. A retry, also by another
 * process, must write exactly that batch.
 */
export type ClickLedger = {
  /** Returns the batch of a journal that was begun last; undefined for none. */
  findIntent(journalId: string): Promise<ClickIntent | undefined>
  /** Finds the owners of a batch, and computes what it adds to counters. */
  prepare(batch: ClickBatch): Promise<PreparedBatch>
  /** Records a batch, or finds the record of one that begins there. Returns undefined if the position is not `from`. */
  begin(batch: ClickBatch): Promise<BegunBatch | undefined>
  /** Adds to counters, moves the position and removes the record. Returns false if the position is not `from`. */
  commit(batch: ClickBatch, prepared: PreparedBatch): Promise<boolean>
}

export type ClickIntent = {
  readonly from: JournalPosition | undefined
  readonly to: JournalPosition
  /** When it was begun first, in microseconds. */
  readonly begunAt: number
}

/** `isRetry`: it was begun before, so that it may be stored, also in part. */
export type BegunBatch = ClickIntent & { readonly isRetry: boolean }

export type PreparedBatch = { readonly ownerOf: OwnerOf; readonly deltas: BatchDeltas }

/** The number of both parts of the position at which a journal begins. */
export const BEGINNING = -1

export function isSamePosition(
  one: JournalPosition | undefined,
  other: JournalPosition | undefined,
): boolean {
  return one?.segment === other?.segment && one?.offset === other?.offset
}

export async function findIntent(
  db: Kysely<Schema>,
  journalId: string,
): Promise<ClickIntent | undefined> {
  const row = await db
    .selectFrom('click_intents')
    .selectAll()
    .where('journal_id', '=', journalId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const from = { segment: row.from_segment, offset: row.from_position }
  return {
    from: from.segment === BEGINNING ? undefined : from,
    to: { segment: row.to_segment, offset: row.to_position },
    begunAt: row.begun_at,
  }
}

/** Begins a batch within a transaction (`ClickLedger`). */
export async function beginBatch(
  tx: Kysely<Schema>,
  { journalId, from, to, atMicros }: ClickBatch,
): Promise<BegunBatch | undefined> {
  if (!isSamePosition(await findPosition(tx, journalId), from)) return undefined
  const row = {
    from_segment: from?.segment ?? BEGINNING,
    from_position: from?.offset ?? BEGINNING,
    to_segment: to.segment,
    to_position: to.offset,
    begun_at: atMicros,
  }
  const begun = await tx
    .insertInto('click_intents')
    .values({ journal_id: journalId, ...row })
    .onConflict((conflict) =>
      conflict
        .column('journal_id')
        .doUpdateSet(row)
        // Another process may just have begun the same batch: then its record stays.
        .where(
          sql<boolean>`(click_intents.from_segment, click_intents.from_position)
            <> (excluded.from_segment, excluded.from_position)`,
        ),
    )
    .returning('journal_id')
    .executeTakeFirst()
  const intent = await findIntent(tx, journalId)
  return intent && { ...intent, isRetry: begun === undefined }
}

/** Removes the record of a batch, within the transaction that counts it. */
export async function endBatch(tx: Kysely<Schema>, { journalId }: ClickBatch): Promise<void> {
  await tx.deleteFrom('click_intents').where('journal_id', '=', journalId).execute()
}
