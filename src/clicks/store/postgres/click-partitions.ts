import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import { createPartition, dropPartition, listPartitions } from './raw-clicks.ts'

/** Days for which partitions are made before they begin. */
const DAYS_AHEAD = 3

/** The partitions of the raw clicks, one for each UTC day, as one node knows them. */
export class ClickPartitions {
  readonly #db: Kysely<Schema>
  #known: ReadonlySet<number> | undefined

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /**
   * Makes the partitions that are missing. A clock that stands anywhere but in these days brings
   * clicks of others, and those are kept like any.
   */
  async ensure(days: Iterable<number>): Promise<void> {
    const wanted = [...days]
    this.#known ??= await listPartitions(this.#db)
    for (const day of wanted) {
      if (!this.#known.has(day)) await this.#create(day)
    }
  }

  /** Looks again at what there is: another node may have dropped one. */
  forget(): void {
    this.#known = undefined
  }

  async maintain(today: number, oldestDay: number | undefined): Promise<void> {
    this.forget()
    await this.ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => today + ahead))
    if (oldestDay === undefined) return
    // A node whose clock is ahead must not drop what is young by all others' clocks.
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
    if (row === undefined) throw new Error('PostgreSQL does not say what day it is')
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
    // Two nodes that make the same one collide, and one of them has made it.
    if (failure !== undefined && !this.#known.has(day)) throw failure
  }
}
