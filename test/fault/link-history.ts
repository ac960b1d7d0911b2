import assert from 'node:assert/strict'

/** The outcome of a visit: a destination, or the status of a page. */
export type Outcome = string | number

type State = {
  readonly outcome: Outcome
  /**
   * From when the outcome is allowed, and from when it is required; Infinity until the change is
   * confirmed.
   */
  readonly begunMs: number
  settledMs: number
}

/** Every outcome that a link ever had, with its times. */
export class LinkHistory {
  readonly #states: State[]

  constructor(first: Outcome) {
    this.#states = [{ outcome: first, begunMs: 0, settledMs: 0 }]
  }

  /** Records a requested change; the returned function confirms it. */
  begin(outcome: Outcome): () => void {
    const state = { outcome, begunMs: performance.now(), settledMs: Number.POSITIVE_INFINITY }
    this.#states.push(state)
    return () => {
      state.settledMs = performance.now()
    }
  }

  get current(): Outcome {
    return this.#states.at(-1)?.outcome ?? 404
  }

  /**
   * Throws when a visit got an outcome that had been replaced for longer than the limit when it began.
   *
   * @param visit.startedMs and the others are values of `performance.now()`
   */
  check(visit: { outcome: Outcome; startedMs: number; endedMs: number; boundMs: number }): void {
    const mayBe = this.#states.filter(({ begunMs }, index) => {
      const next = this.#states[index + 1]
      const isReplaced = next !== undefined && next.settledMs < visit.startedMs - visit.boundMs
      return begunMs <= visit.endedMs && !isReplaced
    })
    const outcomes = mayBe.map(({ outcome }) => outcome)
    const replacedFor = Math.round(
      visit.startedMs - (this.#replacedMs(visit.outcome) ?? Number.NaN),
    )
    assert.ok(
      outcomes.includes(visit.outcome),
      `led to ${visit.outcome}, replaced ${replacedFor} ms before, and not to ${outcomes.join(' or ')}`,
    )
  }

  #replacedMs(outcome: Outcome): number | undefined {
    const index = this.#states.findLastIndex((state) => state.outcome === outcome)
    return this.#states[index + 1]?.settledMs
  }
}
