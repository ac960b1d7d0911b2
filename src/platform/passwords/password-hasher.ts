import type { FairQueue, FairQueueOptions, WorkQueues } from '../work/fair-queue.ts'
import { TaskThread } from '../work/task-thread.ts'
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

export type OpenedPasswordHasher = { readonly hasher: PasswordHasher; close(): Promise<void> }

/**
 * Hashes in dedicated threads, each started with the first hash that finds the others busy. Node's own
 * asynchronous hash runs in the thread pool that also syncs files, and would delay the journal.
 */
export function openPasswordHasher(
  queues: WorkQueues,
  bounds: FairQueueOptions = HASH_QUEUE,
): OpenedPasswordHasher {
  const script = new URL('./hash-worker.ts', import.meta.url)
  const threads = Array.from(
    { length: bounds.concurrency },
    () => new TaskThread<HashTask, Uint8Array>(script),
  )
  const idle = [...threads]

  async function compute({ text, salt }: HashTask): Promise<Uint8Array> {
    const thread = idle.pop()
    if (thread === undefined) throw new Error('more hashes at a time than there are threads')
    try {
      // A copy: posting an array sends its whole underlying buffer.
      return await thread.run({ text, salt: Uint8Array.from(salt) })
    } finally {
      idle.push(thread)
    }
  }

  return {
    hasher: new PasswordHasher({ queue: queues.open(bounds), compute }),
    async close() {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}
