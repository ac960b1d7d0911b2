/** While more clicks come in a second, they wait for each other. Below, they are counted within a second, above within three. */
const RATE_MIN = 5_000
/** The oldest click of a batch is counted after this time: three seconds, and time to spare for a busy machine. */
const AGE_MS_MAX = 2_500

/** A stored batch. Times are of `performance.now()`. */
type StoredBatch = {
  /** When it was read: no click that waits behind it is older. */
  readonly readMs: number
  readonly storedMs: number
  readonly clicks: number
  readonly bytes: number
}

/** Decides whether clicks wait for others, so that they share a batch: a large one writes fewer pages for each click. */
export class BatchGathering {
  readonly #clicksMax: number
  /** The last batch; undefined before the first one, which therefore waits for nothing. */
  #batch: StoredBatch | undefined
  #lookedMs = 0
  #waiting = 0

  /** @param clicksMax the number of clicks that a batch has at most */
  constructor(clicksMax: number) {
    this.#clicksMax = clicksMax
  }

  noteBatch(batch: StoredBatch): void {
    if (batch.clicks === 0) return
    this.#batch = batch
    this.#lookedMs = batch.readMs
    this.#waiting = 0
  }

  /**
   * Whether the clicks behind the last batch wait until `nowMs + stepMs`.
   *
   * @param waitingBytes what they take in the journal
   */
  shouldWait(nowMs: number, stepMs: number, waitingBytes: number): boolean {
    if (this.#batch === undefined) return false
    const { readMs, storedMs, clicks, bytes } = this.#batch
    const waiting = (waitingBytes * clicks) / bytes
    const perMs = (waiting - this.#waiting) / (nowMs - this.#lookedMs)
    this.#lookedMs = nowMs
    this.#waiting = waiting
    const expected = waiting + perMs * stepMs
    const storingMs = (expected * (storedMs - readMs)) / clicks
    const ageMs = nowMs + stepMs - readMs + storingMs
    return perMs * 1_000 > RATE_MIN && expected <= this.#clicksMax && ageMs <= AGE_MS_MAX
  }
}
