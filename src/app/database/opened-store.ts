import type { Kysely } from 'kysely'
import type { PoolUse } from '../../platform/database/postgres/pool.ts'
import type { Schema } from '../../platform/database/schema.ts'
import type { FairQueue } from '../../platform/work/fair-queue.ts'
import type { FullStore } from './stores.ts'

/** A store with what its caretakers need besides. */
export type OpenedStore = {
  readonly store: FullStore
  /** The engine and its version, for people. */
  readonly engine: string
  /** Settles once the database has this program's schema; rejects where it cannot have it. */
  readonly ready: Promise<void>
  /** The pools of connections by their names; none on an engine that has none. */
  poolUses(): ReadonlyMap<string, PoolUse>
  /**
   * Since when the files should have been checked in full; undefined where they have been, or where
   * there are none.
   */
  readonly uncheckedSinceMs: number | undefined
  /** In which searches, charts and exports wait for their turns to read. */
  readonly scanQueue: FairQueue
  /** For looking at the tables themselves. */
  readonly db: Kysely<Schema>
}
