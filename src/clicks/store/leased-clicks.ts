import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { LimitedCount } from './batch-deltas.ts'

/** Links in one statement: SQLite takes 32,766 parameters. */
const ROWS_PER_STATEMENT = 1_000

/**
 * Adds the clicks of a journal that took one of their link's limit, in the transaction that counts them. So what a
 * limit has left stays the same: as much as the lease has less outstanding, the link has more clicks.
 *
 * @param limited each link once
 */
export async function addLeasedClicks(
  db: Kysely<Schema>,
  journal_id: string,
  limited: readonly LimitedCount[],
): Promise<void> {
  for (let start = 0; start < limited.length; start += ROWS_PER_STATEMENT) {
    const some = limited.slice(start, start + ROWS_PER_STATEMENT)
    await db
      .insertInto('leased_clicks')
      .values(some.map(({ link_seq, clicks }) => ({ link_seq, journal_id, spent: clicks })))
      .onConflict((conflict) =>
        conflict.columns(['link_seq', 'journal_id']).doUpdateSet((eb) => ({
          spent: eb('leased_clicks.spent', '+', eb.ref('excluded.spent')),
        })),
      )
      .execute()
  }
}

/** Deletes the counts of journals whose lease is dissolved: they are part of the links' own counts. */
export async function dropUnleasedClicks(db: Kysely<Schema>): Promise<void> {
  await db
    .deleteFrom('leased_clicks')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('click_leases')
            .select('click_leases.link_seq')
            .whereRef('click_leases.link_seq', '=', 'leased_clicks.link_seq')
            .whereRef('click_leases.journal_id', '=', 'leased_clicks.journal_id'),
        ),
      ),
    )
    .execute()
}
