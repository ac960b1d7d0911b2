import type { Kysely } from 'kysely'
import type { Store } from '../domain/store.ts'
import type { Schema } from './schema.ts'

/** A store with what its caretakers need besides. */
export type OpenedStore = {
  readonly store: Store
  /** The engine and its version, for people. */
  readonly engine: string
  /** For looking at the tables themselves. */
  readonly db: Kysely<Schema>
}
