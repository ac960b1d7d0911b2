import type { HashTask } from '../../platform/passwords/argon2id.ts'
import { HASH_QUEUE, PasswordHasher } from '../../platform/passwords/password-hasher.ts'
import type { FairQueueOptions } from '../../platform/work/fair-queue.ts'
import { TaskThread } from '../../platform/work/task-thread.ts'
import type { WorkQueues } from '../../platform/work/work-queues.ts'

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
