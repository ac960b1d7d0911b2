import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Returns a statement that takes an exclusive lock on a name. Other transactions that lock the same
 * name wait until this one ends.
 */
export type LockName = (tx: Kysely<Schema>, name: string) => CompiledQuery
