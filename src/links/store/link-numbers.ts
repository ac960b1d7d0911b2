import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/**
 * The highest plausible link number; a click with a higher one is damaged or does not refer to a
 * link.
 */
const NUMBER_MAX = 2 ** 50

/** An engine's sequence of link numbers. */
export type LinkSequence = {
  /** Returns the last assigned number; 0 when none was assigned. */
  last(): Promise<number>
  /** Ensures that every new link gets a number above `seq`. */
  skipTo(seq: number): Promise<void>
}

/** What an engine does with link numbers within a transaction. */
export type LinkNumbering = {
  /** Implements `LinkStore.skipNumbers`. */
  skip(db: Kysely<Schema>, seq: number): Promise<void>
  /** Implements `LinkStore.lastNumber`. */
  last(db: Kysely<Schema>): Promise<number>
}

/** Ensures that link numbers that occur in clicks are not assigned to new links. */
export class LinkNumbers {
  readonly #sequence: LinkSequence
  #last = 0

  constructor(sequence: LinkSequence) {
    this.#sequence = sequence
  }

  /**
   * Has no effect for numbers that the database has already assigned. A journal that is newer than
   * the database, or from another instance, may contain numbers that it has not assigned yet.
   */
  async reserve(linkSeqs: readonly number[]): Promise<void> {
    const known = linkSeqs.filter((seq) => seq <= NUMBER_MAX)
    const seq = known.reduce((highest, seq) => Math.max(highest, seq), 0)
    if (seq <= this.#last) return
    this.#last = await this.#sequence.last()
    if (seq <= this.#last) return
    await this.#sequence.skipTo(seq)
    this.#last = seq
  }
}
