import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../../storage/schema.ts'
import type { LinkSequence } from '../link-numbers.ts'

const SEQUENCE = sql`pg_get_serial_sequence('links', 'seq')::regclass`

/**
 * @param db a transaction. It waits for transactions that are creating links, and blocks new
 *   ones.
 */
export async function skipLinkNumbers(db: Kysely<Schema>, seq: number): Promise<void> {
  if ((await lastLinkNumber(db)) >= seq) return
  // Without the lock, `setval` could reset numbers that other transactions have just taken.
  await sql`lock table links in share row exclusive mode`.execute(db)
  await sql`select setval(${SEQUENCE},
    greatest(${seq}::bigint, coalesce(pg_sequence_last_value(${SEQUENCE}), 1)))`.execute(db)
}

export function postgresLinkSequence(db: Kysely<Schema>): LinkSequence {
  return {
    last: () => lastLinkNumber(db),
    skipTo: (seq) => db.transaction().execute((tx) => skipLinkNumbers(tx, seq)),
  }
}

export async function lastLinkNumber(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ last: string | null }>`
    select pg_sequence_last_value(${SEQUENCE}) as last`.execute(db)
  return Number(rows[0]?.last ?? 0)
}
