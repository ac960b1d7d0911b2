import { FairQueue, type FairQueueOptions } from './fair-queue.ts'

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
