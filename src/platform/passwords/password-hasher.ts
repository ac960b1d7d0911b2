import type { FairQueue, FairQueueOptions } from '../work/fair-queue.ts'
import type { HashTask } from './argon2id.ts'

/**
 * One hash keeps a core busy for about 25 ms, so an owner's full queue takes about a second. A request
 * to the API waits for less than 3 s in all. There is room for 64 full queues: an owner whose queue is
 * empty finds a place beside them.
 */
export const HASH_QUEUE: FairQueueOptions = {
  work: 'password hashes',
  concurrency: 2,
  waitingPerOwnerMax: 64,
  waitingMax: 4_096,
  deadlineMs: 2_000,
}

/** Hashes passwords off the main thread, a bounded number at a time and each owner in turn. */
export class PasswordHasher {
  readonly #queue: FairQueue
  readonly #compute: (task: HashTask) => Promise<Uint8Array>

  /** @param options.compute does what `argon2id` does, for as many tasks at a time as the queue lets through */
  constructor(options: { queue: FairQueue; compute: (task: HashTask) => Promise<Uint8Array> }) {
    this.#queue = options.queue
    this.#compute = options.compute
  }

  /**
   * Returns the argon2id hash.
   *
   * @param owner whose share of the queue it takes
   * @param onTurn called right before the work; what it throws is thrown here instead of doing the work
   * @throws {QueueRefusal} when too many hashes are waiting
   */
  hash(owner: string, task: HashTask, onTurn?: () => void): Promise<Uint8Array> {
    return this.#queue.run(owner, async () => {
      onTurn?.()
      return this.#compute(task)
    })
  }
}
