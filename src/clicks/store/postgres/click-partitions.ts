import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../../storage/schema.ts'
import { createPartition, dropPartition, listPartitions } from './raw-clicks.ts'

/** Partitions are created this many days ahead. */
const DAYS_AHEAD = 3

/** Creates and drops the partitions of raw clicks, one per UTC day. */
export class ClickPartitions {
  readonly #db: Kysely<Schema>
  #known: ReadonlySet<number> | undefined

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /**
   * Creates missing partitions. With a wrong clock, clicks can be on any day; they are stored like others.
   */
  async ensure(days: Iterable<number>): Promise<void> {
    const wanted = [...days]
    this.#known ??= await listPartitions(this.#db)
    for (const day of wanted) {
      if (!this.#known.has(day)) await this.#create(day)
    }
  }

  /** Discards the cached list: another node may have dropped a partition. */
  forget(): void {
    this.#known = undefined
  }

  async maintain(today: number, oldestDay: number | undefined): Promise<void> {
    this.forget()
    await this.ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => today + ahead))
    if (oldestDay === undefined) return
    // A node whose clock is ahead must not drop partitions too early.
    const daysAhead = Math.max(0, today - (await this.#serverDay()))
    for (const day of await listPartitions(this.#db)) {
      if (day < oldestDay - daysAhead) await dropPartition(this.#db, day)
    }
    this.forget()
  }

  async #serverDay(): Promise<number> {
    const result = await sql<{ day: number }>`
      select floor(extract(epoch from now()) / 86400)::integer as day`.execute(this.#db)
    const [row] = result.rows
    if (row === undefined) throw new Error('PostgreSQL returned no current day')
    return row.day
  }

  async #create(day: number): Promise<void> {
    let failure: unknown
    try {
      await createPartition(this.#db, day)
    } catch (error) {
      failure = error
    }
    this.#known = await listPartitions(this.#db)
    // If two nodes create the same partition, one of them fails although it exists now.
    if (failure !== undefined && !this.#known.has(day)) throw failure
  }
}
