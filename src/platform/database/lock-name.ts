import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** A statement that keeps every other transaction that locks the same name waiting until this one ends. */
export type LockName = (tx: Kysely<Schema>, name: string) => CompiledQuery
