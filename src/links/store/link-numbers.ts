/** A link's number that no database has given: what names it is damaged, or not meant for links. */
const NUMBER_MAX = 2 ** 50

/** What an engine knows of the numbers that it gives to links. */
export type LinkSequence = {
  /** The last number that was given; 0 when there was none. */
  last(): Promise<number>
  /** Makes sure that no new link gets a number up to `seq`. */
  skipTo(seq: number): Promise<void>
}

/** Keeps numbers that clicks name from being given to new links. */
export class LinkNumbers {
  readonly #sequence: LinkSequence
  #last = 0

  constructor(sequence: LinkSequence) {
    this.#sequence = sequence
  }

  /**
   * Does nothing for clicks of links that the database knows, or has deleted. Those of a journal that
   * is newer than the database, or of another instance, may name numbers that it has not given yet.
   */
  async keep(linkSeqs: readonly number[]): Promise<void> {
    const known = linkSeqs.filter((seq) => seq <= NUMBER_MAX)
    const seq = known.reduce((highest, seq) => Math.max(highest, seq), 0)
    if (seq <= this.#last) return
    this.#last = await this.#sequence.last()
    if (seq <= this.#last) return
    await this.#sequence.skipTo(seq)
    this.#last = seq
  }
}
