import { Worker } from 'node:worker_threads'

/** What a `TaskThread` sends to its script, and what `serveTasks` sends back. */
export type TaskMessage<Task> = { readonly id: number; readonly task: Task }
export type TaskReply<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly error: TaskError }
type TaskError = {
  readonly message: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** Less than half of what V8 takes by default, in each thread, and enough for one task at a time. */
const YOUNG_GENERATION_MIB = 8

type Pending<Result> = { resolve(result: Result): void; reject(error: unknown): void }

/** Thrown for tasks that a thread had not finished when it ended. */
export class TaskThreadEnded extends Error {
  override readonly name = 'TaskThreadEnded'
}

/**
 * Runs synchronous, expensive work in a worker thread, one task after the other. The thread starts with
 * the first task, again after a crash, and never keeps the process alive. It has no bound on
 * waiting tasks: put a `FairQueue` in front.
 */
export class TaskThread<Task, Result> {
  readonly #script: URL
  readonly #workerData: unknown
  readonly #pending = new Map<number, Pending<Result>>()
  #worker: Worker | undefined
  #lastId = 0

  /** @param script a module that calls `serveTasks` */
  constructor(script: URL, workerData?: unknown) {
    this.#script = script
    this.#workerData = workerData
  }

  /**
   * @throws the error that the script threw, with its own properties
   * @throws {TaskThreadEnded} when the thread ended before the task did
   */
  run(task: Task): Promise<Result> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    this.#lastId += 1
    const message: TaskMessage<Task> = { id: this.#lastId, task }
    return new Promise((resolve, reject) => {
      this.#pending.set(message.id, { resolve, reject })
      worker.postMessage(message)
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#script, {
      workerData: this.#workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    })
    worker.unref()
    worker.on('message', (reply: TaskReply<Result>) => this.#settle(reply))
    const fail = (cause: unknown) => {
      // A crashed thread's exit may be reported after its successor has started.
      if (this.#worker !== worker) return
      this.#worker = undefined
      for (const { reject } of this.#pending.values()) {
        reject(new TaskThreadEnded('The worker thread ended.', { cause }))
      }
      this.#pending.clear()
    }
    worker.on('error', fail)
    worker.on('exit', (code) => fail(new Error(`exit code ${code}`)))
    return worker
  }

  #settle(reply: TaskReply<Result>): void {
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if ('result' in reply) pending?.resolve(reply.result)
    else pending?.reject(Object.assign(new Error(reply.error.message), reply.error.properties))
  }
}
