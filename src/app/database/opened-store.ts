import type { Kysely } from 'kysely'
import type { FairQueue } from '../../platform/work/fair-queue.ts'
import type { PoolUse } from '../../storage/postgres/pool.ts'
import type { Schema } from '../../storage/schema.ts'
import type { FullStore } from './stores.ts'

/** A store, with what monitoring, checks and maintenance need of it. */
export type OpenedStore = {
  readonly store: FullStore
  /** The engine and its version, for display. */
  readonly engine: string
  /** Resolves once the database has this program's schema; rejects when it cannot be migrated. */
  readonly ready: Promise<void>
  /** The connection pools by name; empty on SQLite. */
  poolUses(): ReadonlyMap<string, PoolUse>
  /** Since when a full check of the files is due; undefined when none is due, and on PostgreSQL. */
  readonly uncheckedSinceMs: number | undefined
  /** Rejects unless the database of clicks answers; left out where the database itself has clicks. */
  checkClicks?(): Promise<void>
  /** The queue in which searches, charts and exports wait for their turns to read. */
  readonly scanQueue: FairQueue
  /**
   * Returns the first of the open files that was removed or replaced at its path; undefined while there is none. Not on
   * PostgreSQL.
   */
  findReplacedFile?(): string | undefined
  /** For direct queries on the tables. */
  readonly db: Kysely<Schema>
}
