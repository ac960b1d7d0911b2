import type { FairQueue, FairQueueOptions, WorkQueues } from '../../platform/work/fair-queue.ts'
import { TaskThread, TaskThreadEnded } from '../../platform/work/task-thread.ts'
import { noPreview } from './page-reader.ts'
import type { PageTags, readPageTags } from './page-tags.ts'
import type { PictureResult } from './picture.ts'
import type { PreviewResult, PreviewTask } from './preview-worker.ts'

/** A picture takes 0.1 to 3 s of a core and up to 256 MiB, so there is one at a time. */
const PICTURE_QUEUE: FairQueueOptions = {
  work: 'pictures',
  concurrency: 1,
  waitingPerOwnerMax: 8,
  waitingMax: 64,
  deadlineMs: 10_000,
}

/** No picture that is taken needs as long, however slow the machine. */
const TASK_MS_MAX = 10_000

/**
 * Reads pages and pictures of strangers in threads. Each has a thread of its own, which ends after it: with its memory,
 * and with whatever the bytes have done to the decoder.
 */
export class PreviewThreads {
  readonly #queue: FairQueue

  constructor(queues: WorkQueues) {
    this.#queue = queues.open(PICTURE_QUEUE)
  }

  /** @throws {QueueRefusal} when too many are waiting */
  async encode(workspaceId: string, bytes: Uint8Array): Promise<PictureResult> {
    try {
      const task = { kind: 'picture', bytes } as const
      return await this.#queue.run(workspaceId, () => run<PictureResult>(task))
    } catch (error) {
      // A decoder that was ended, by the limit of time or of memory.
      if (error instanceof TaskThreadEnded) return { fault: 'damaged' }
      throw error
    }
  }

  /** @throws {QueueRefusal} when too many are waiting */
  async readTags(workspaceId: string, page: Parameters<typeof readPageTags>[0]): Promise<PageTags> {
    try {
      const task = { kind: 'page', ...page } as const
      return await this.#queue.run(workspaceId, () => run<PageTags>(task))
    } catch (error) {
      if (error instanceof TaskThreadEnded) throw noPreview({ reason: 'page' })
      throw error
    }
  }
}

async function run<Result extends PreviewResult>(task: PreviewTask): Promise<Result> {
  const script = new URL('./preview-worker.ts', import.meta.url)
  const thread = new TaskThread<PreviewTask, Result>(script)
  const ending = setTimeout(() => void thread.close(), TASK_MS_MAX)
  try {
    return await thread.run(task)
  } finally {
    clearTimeout(ending)
    await thread.close()
  }
}
