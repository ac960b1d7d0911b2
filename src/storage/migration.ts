import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** The parts of table definitions that differ between the engines. */
export type ColumnTypes = {
  readonly uuid: 'uuid' | 'text'
  /** An auto-increment integer primary key; the database never reuses a number. */
  readonly sequence: string
  /**
   * The same for links; not the primary key on the engine whose key for links has a second column.
   */
  readonly linkSequence: string
  /** Further keys and unique constraints of the table of links. */
  readonly linkConstraints: string
  /** Text that is compared byte by byte, regardless of the database's locale. */
  readonly bytewiseText: string
  /**
   * A 64-bit integer. On SQLite, as a primary key, it is the row id and needs no separate index.
   */
  readonly number: string
  readonly bytes: string
  /** Columns that only this engine's change log has. */
  readonly changeLogExtra: string
  /** Statements that create the indexes on those columns. */
  readonly changeLogIndexes: readonly string[]
  /** Statements that create the indexes that only this engine has on the event log. */
  readonly eventLogIndexes: readonly string[]
  /** Statements that create what only this engine needs for counted clicks. */
  readonly clickExtras: readonly string[]
  /**
   * Statements that create what counted clicks need when they are in a separate file. They must be
   * idempotent: a killed process may already have run some of them.
   */
  readonly countedFileExtras: readonly string[]
  /** Statements that add the count column to raw clicks, where these are in the database. */
  readonly rawClickCount: readonly string[]
  /** The same for what the rules of links decided. */
  readonly rawClickRules: readonly string[]
  /** The same for labels. */
  readonly rawClickLabels: readonly string[]
  /** The same for regions and cities. */
  readonly rawClickPlaces: readonly string[]
  /** Statements that create what counted clicks in a separate file need when single clicks are in ClickHouse. */
  readonly unchartedClicks: readonly string[]
  /** Statements that create the table of single clicks that came back from ClickHouse, where it is in the database. */
  readonly returnedRawClicks: readonly string[]
}

/** One step of the schema. Once released, a step never changes. */
export type Migration = {
  readonly name: string
  /**
   * The oldest program, named by its schema version, that still works with a database after this
   * step. It is older than the step when the step only adds what older programs can ignore. Nodes
   * of two releases can then serve side by side.
   */
  readonly servedFrom: number
  /** The same when counted clicks are in a separate file, if the value differs there. */
  readonly servedFromOnFiles?: number
  /**
   * @param clicks the database for the click tables. When clicks are in a separate file, no
   *   transaction spans both files, so the statements on it must be idempotent.
   */
  up(db: Kysely<Schema>, types: ColumnTypes, clicks: Kysely<Schema>): Promise<void>
}
