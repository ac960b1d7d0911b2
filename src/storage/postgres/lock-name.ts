import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/**
 * Keeps every other transaction that locks the same name waiting until this one ends. Names are
 * compared by a hash of 64 bits: two that share it wait for each other without need. PostgreSQL frees
 * the lock with the transaction, so PgBouncer in transaction mode and killed processes leave none behind.
 */
export async function lockName(tx: Kysely<Schema>, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
}
