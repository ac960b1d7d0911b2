import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** What the engines write differently in a table's definition. */
export type ColumnTypes = {
  readonly uuid: 'uuid' | 'text'
  /** A whole number that the database gives, rising and never given twice, as the primary key. */
  readonly sequence: string
  /** Text that is compared byte by byte, whatever the database's language. */
  readonly bytewiseText: string
  /** Columns that the change log has on this engine alone. */
  readonly changeLogExtra: string
  /** Statements that make the indexes on them. */
  readonly changeLogIndexes: readonly string[]
}

/** One step of the schema. Once released, a step never changes. */
export type Migration = {
  readonly name: string
  up(db: Kysely<Schema>, types: ColumnTypes): Promise<void>
}
