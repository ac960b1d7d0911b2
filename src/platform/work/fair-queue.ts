type Waiting = {
  readonly start: () => void
  /** Forgets the timer and the signal. */
  readonly settle: () => void
}

/**
 * `owner_full`: this owner's queue is full. `full`: the queues of all owners together are full. `deadline`:
 * the work waited too long.
 */
export type QueueRefusalReason = 'owner_full' | 'full' | 'deadline'

/** Thrown for work that a `FairQueue` did not start. The caller may retry later. */
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
  /** The name of the work in refusals and metrics, in the plural: `charts`. */
  readonly work: string
  /** How many pieces of work may run at once. */
  readonly concurrency: number
  /** How many of one owner may run at once; defaults to `concurrency`. */
  readonly concurrencyPerOwner?: number
  /** How many of one owner may wait, in addition to those running. */
  readonly waitingPerOwnerMax: number
  /** How many of all owners together may wait. */
  readonly waitingMax: number
  /** Work that has waited this long is refused. */
  readonly deadlineMs: number
}

/**
 * Schedules expensive work fairly among owners, such as workspaces. Each owner has a bounded queue, and the
 * queues are served round-robin, so an owner with a long queue delays another by at most one piece of
 * work. The time in the queue is limited, the time of the work itself is not.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #concurrencyPerOwner: number
  /** Owners with waiting work, in the order in which they are served. */
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

  /** Pieces of work refused since the process started. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Runs `work` when it is the owner's turn.
   *
   * @param signal removes the work from the queue while it waits; running work must follow the signal itself
   * @throws {QueueRefusal} when the work was not started
   * @throws the reason of `signal` when that aborts first
   */
  async run<T>(owner: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(owner, signal)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /**
   * Waits for the owner's turn and takes a slot. The returned function releases it; calling that again has
   * no effect.
   *
   * @throws {QueueRefusal} when no slot was taken
   * @throws the reason of `signal` when that aborts first
   */
  acquire(owner: string, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason)
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
      const leave = () => {
        this.#remove(owner, waiting)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        this.#remove(owner, waiting)
        reject(this.#refusal('deadline'))
      }, this.#options.deadlineMs)
      const waiting: Waiting = {
        start: () => resolve(this.#releaseOnce(owner)),
        settle: () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', leave)
        },
      }
      signal?.addEventListener('abort', leave)
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
      // Moves the owner to the end, so that the other owners are served first.
      this.#queues.delete(owner)
      if (queue.length > 0) this.#queues.set(owner, queue)
      if (next === undefined) continue
      this.#waiting -= 1
      next.settle()
      this.#begin(owner)
      next.start()
      return
    }
  }

  #remove(owner: string, waiting: Waiting): void {
    const queue = this.#queues.get(owner) ?? []
    queue.splice(queue.indexOf(waiting), 1)
    if (queue.length === 0) this.#queues.delete(owner)
    this.#waiting -= 1
    waiting.settle()
  }

  #refusal(reason: QueueRefusalReason): QueueRefusal {
    this.#refused += 1
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#options.deadlineMs / 1_000))
    return new QueueRefusal(this.#options.work, reason, retryAfterSeconds)
  }
}

/** All fair queues of a process, so that metrics can cover them in one place. */
export class WorkQueues {
  readonly #queues: FairQueue[] = []

  get all(): readonly FairQueue[] {
    return this.#queues
  }

  open(options: FairQueueOptions): FairQueue {
    const queue = new FairQueue(options)
    this.add(queue)
    return queue
  }

  add(queue: FairQueue): void {
    this.#queues.push(queue)
  }
}
