import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/**
 * Returns a statement that takes an exclusive lock on a name until the transaction ends. Names are
 * compared by a 64-bit hash: two names with the same hash wait for each other needlessly.
 * PostgreSQL releases the lock with the transaction, so it also works through PgBouncer in
 * transaction mode and survives no killed process.
 */
export function lockName(tx: Kysely<Schema>, name: string): CompiledQuery {
  return tx
    .selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`.as('locked'))
    .compile()
}
