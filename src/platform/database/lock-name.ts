import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Returns a statement that takes an exclusive lock on a name. Other transactions that lock the same
 * name wait until this one ends.
 */
export type LockName = (tx: Kysely<Schema>, name: string) => CompiledQuery

/**
 * How a transaction keeps a row that it has read until it ends: `share` from changes and deletion, `update` also from
 * rows of other tables that refer to it. Only within `Store.write`; an engine that runs one writing transaction at a
 * time needs none.
 */
export type RowLock = 'share' | 'update'
