import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** What the engines write differently in a table's definition. */
export type ColumnTypes = {
  readonly uuid: 'uuid' | 'text'
  /** A whole number that the database gives, rising and never given twice, as the primary key. */
  readonly sequence: string
  /** The same for links, without the key where their number alone is none. */
  readonly linkSequence: string
  /** By which a link is found besides its key. */
  readonly linkConstraints: string
  /** Text that is compared byte by byte, whatever the database's language. */
  readonly bytewiseText: string
  /** A whole number of 64 bits, that as a primary key needs no index beside the table. */
  readonly number: string
  readonly bytes: string
  /** Columns that the change log has on this engine alone. */
  readonly changeLogExtra: string
  /** Statements that make the indexes on them. */
  readonly changeLogIndexes: readonly string[]
  /** Statements that make what the counted clicks need on this engine alone. */
  readonly clickExtras: readonly string[]
  /**
   * Statements that make what the counted clicks need where they are in a file of their own. A killed
   * process may have run some of them before.
   */
  readonly countedFileExtras: readonly string[]
  /** Statements that give raw clicks their count, where they are in the database. */
  readonly rawClickCount: readonly string[]
}

/** One step of the schema. Once released, a step never changes. */
export type Migration = {
  readonly name: string
  /**
   * The oldest program, by the version of the schema that it was made for, that still works with a
   * database which has been through this step: the one before, or an older one, where the step only
   * adds what these need not know of. Nodes of two releases then serve side by side.
   */
  readonly servedFrom: number
  /** The same where the counted clicks are in a file of their own, if it is another program there. */
  readonly servedFromOnFiles?: number
  /**
   * @param clicks for the tables of the clicks: where they are in a file of their own, no transaction
   *   spans both, so what is done there must be harmless when it is done again
   */
  up(db: Kysely<Schema>, types: ColumnTypes, clicks: Kysely<Schema>): Promise<void>
}
