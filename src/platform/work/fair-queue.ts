type Waiting = {
  readonly start: () => void
  readonly refuse: (refusal: QueueRefusal) => void
  readonly timer: NodeJS.Timeout
}

/** `owner_full`: this owner has too much waiting. `full`: all owners together have. `deadline`: no turn came in time. */
export type QueueRefusalReason = 'owner_full' | 'full' | 'deadline'

/** Thrown for work that a `FairQueue` did not start. The same work may be accepted a little later. */
export class QueueRefusal extends Error {
  override readonly name = 'QueueRefusal'
  readonly reason: QueueRefusalReason
  readonly retryAfterSeconds: number

  constructor(work: string, reason: QueueRefusalReason, retryAfterSeconds: number) {
    super(
      reason === 'owner_full'
        ? `Too many ${work} are waiting for you. Try again in ${retryAfterSeconds} s.`
        : `The service is busy with ${work}. Try again in ${retryAfterSeconds} s.`,
    )
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export type FairQueueOptions = {
  /** Names the work in refusals and metrics, in the plural: `charts`. */
  readonly work: string
  /** Pieces of work that run at once. */
  readonly concurrency: number
  /** Of these, how many may belong to one owner; `concurrency` when left out. */
  readonly concurrencyPerOwner?: number
  /** How many one owner may have waiting, beside those that run. */
  readonly waitingPerOwnerMax: number
  /** How many may wait, of all owners together. */
  readonly waitingMax: number
  /** Work that has waited this long is not done. */
  readonly deadlineMs: number
}

/**
 * Shares something expensive fairly among owners, such as workspaces: a bounded queue for each owner,
 * served in turn, so that an owner with a long queue delays another by one piece of work at most.
 * Time in the queue is bounded by a deadline; time at work is not.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #concurrencyPerOwner: number
  /** Owners that have something waiting, in the order of their turns. */
  readonly #queues = new Map<string, Waiting[]>()
  readonly #runningOf = new Map<string, number>()
  #running = 0
  #waiting = 0
  #refused = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
    this.#concurrencyPerOwner = options.concurrencyPerOwner ?? options.concurrency
  }

  get work(): string {
    return this.#options.work
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** How many pieces of work were refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Runs `work` when it is the owner's turn.
   *
   * @throws {QueueRefusal} when the work was not started
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(owner)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /**
   * Waits for the owner's turn and takes a place, which the returned function gives back. Calling it
   * again has no effect.
   *
   * @throws {QueueRefusal} when no place was taken
   */
  acquire(owner: string): Promise<() => void> {
    if (this.#mayStart(owner)) {
      this.#begin(owner)
      return Promise.resolve(this.#releaseOnce(owner))
    }
    const queue = this.#queues.get(owner) ?? []
    if (queue.length >= this.#options.waitingPerOwnerMax) {
      return Promise.reject(this.#refusal('owner_full'))
    }
    if (this.#waiting >= this.#options.waitingMax) return Promise.reject(this.#refusal('full'))
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        start: () => resolve(this.#releaseOnce(owner)),
        refuse: reject,
        timer: setTimeout(() => this.#giveUp(owner, waiting), this.#options.deadlineMs),
      }
      queue.push(waiting)
      this.#queues.set(owner, queue)
      this.#waiting += 1
    })
  }

  #mayStart(owner: string): boolean {
    return (
      this.#running < this.#options.concurrency &&
      (this.#runningOf.get(owner) ?? 0) < this.#concurrencyPerOwner
    )
  }

  #begin(owner: string): void {
    this.#running += 1
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1)
  }

  #releaseOnce(owner: string): () => void {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      const left = (this.#runningOf.get(owner) ?? 1) - 1
      if (left === 0) this.#runningOf.delete(owner)
      else this.#runningOf.set(owner, left)
      this.#running -= 1
      this.#startNext()
    }
  }

  #startNext(): void {
    for (const [owner, queue] of this.#queues) {
      if (!this.#mayStart(owner)) continue
      const next = queue.shift()
      // Back to the end of the line: the other owners have their turn first.
      this.#queues.delete(owner)
      if (queue.length > 0) this.#queues.set(owner, queue)
      if (next === undefined) continue
      this.#waiting -= 1
      clearTimeout(next.timer)
      this.#begin(owner)
      next.start()
      return
    }
  }

  #giveUp(owner: string, waiting: Waiting): void {
    const queue = this.#queues.get(owner) ?? []
    queue.splice(queue.indexOf(waiting), 1)
    if (queue.length === 0) this.#queues.delete(owner)
    this.#waiting -= 1
    waiting.refuse(this.#refusal('deadline'))
  }

  #refusal(reason: QueueRefusalReason): QueueRefusal {
    this.#refused += 1
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#options.deadlineMs / 1_000))
    return new QueueRefusal(this.#options.work, reason, retryAfterSeconds)
  }
}
