import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/**
 * A statement that keeps every other transaction that locks the same name waiting until this one ends.
 * Names are compared by a hash of 64 bits: two that share it wait for each other without need. PostgreSQL
 * frees the lock with the transaction, so PgBouncer in transaction mode and killed processes leave none.
 */
export function lockName(tx: Kysely<Schema>, name: string): CompiledQuery {
  return tx
    .selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`.as('locked'))
    .compile()
}
