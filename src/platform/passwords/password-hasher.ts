import type { FairQueue, FairQueueOptions } from '../work/fair-queue.ts'
import type { HashTask } from './argon2id.ts'

/**
 * One hash takes about 25 ms of one core, so an owner's full queue takes about a second. A request to the
 * API may take just under 3 s in all. The queue holds 64 owners' full queues, so that one owner cannot
 * fill it and refuse the others.
 */
export const HASH_QUEUE: FairQueueOptions = {
  work: 'password hashes',
  concurrency: 2,
  waitingPerOwnerMax: 64,
  waitingMax: 4_096,
  deadlineMs: 2_000,
}

/** Hashes passwords off the main thread, a limited number at a time, taking owners in turn. */
export class PasswordHasher {
  readonly #queue: FairQueue
  readonly #compute: (task: HashTask) => Promise<Uint8Array>

  /** @param options.compute as `argon2id`, off the main thread; the queue limits concurrent calls */
  constructor(options: { queue: FairQueue; compute: (task: HashTask) => Promise<Uint8Array> }) {
    this.#queue = options.queue
    this.#compute = options.compute
  }

  /**
   * Returns the argon2id hash.
   *
   * @param owner whose share of the queue it takes
   * @param onTurn called right before the hash is computed; when it throws, `hash` rejects with that error
   * @throws {QueueRefusal} when too many hashes are waiting
   */
  hash(owner: string, task: HashTask, onTurn?: () => void): Promise<Uint8Array> {
    return this.#queue.run(owner, async () => {
      onTurn?.()
      return this.#compute(task)
    })
  }
}
