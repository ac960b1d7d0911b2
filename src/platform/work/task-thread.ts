import { getPriority, setPriority } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'

/** Messages from a `TaskThread` to its script, and the replies of `serveTasks`. */
type TaskMessage<Task> = { readonly id: number; readonly task: Task }
type TaskReply<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly error: TaskError }
type TaskError = {
  readonly message: string
  readonly properties: Readonly<Record<string, unknown>>
}

type WaitingTask<Result> = { resolve(result: Result): void; reject(error: unknown): void }

/** Thrown for tasks that were unfinished when the thread ended. */
export class TaskThreadEnded extends Error {
  override readonly name = 'TaskThreadEnded'
}

/**
 * Runs expensive synchronous work in a worker thread, one task at a time. The thread starts with the first
 * task, restarts after a crash, and never keeps the process alive. The number of waiting tasks is not
 * bounded: put a `FairQueue` in front.
 */
export class TaskThread<Task, Result> {
  readonly #script: URL
  readonly #workerData: unknown
  readonly #pending = new Map<number, WaitingTask<Result>>()
  #worker: Worker | undefined
  #lastId = 0

  /** @param script a module that calls `serveTasks` */
  constructor(script: URL, workerData?: unknown) {
    this.#script = script
    this.#workerData = workerData
  }

  /**
   * @throws the error of the script, with its own properties
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
    const worker = new Worker(this.#script, { workerData: this.#workerData })
    worker.unref()
    worker.on('message', (reply: TaskReply<Result>) => this.#settle(reply))
    const fail = (cause: unknown) => {
      // The exit of a crashed thread may arrive after its successor has started.
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

/** Performs the tasks of a `TaskThread`. The thread's script calls it once. */
export function serveTasks<Task, Result>(perform: (task: Task) => Result): void {
  parentPort?.on('message', ({ id, task }: TaskMessage<Task>) => {
    let reply: TaskReply<Result>
    try {
      reply = { id, result: perform(task) }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      reply = { id, error: { message, properties: error instanceof Error ? { ...error } : {} } }
    }
    parentPort?.postMessage(reply)
  })
}

/**
 * How much is added to a thread's niceness. When it competes with a normal thread for one core, a thread
 * at `counting` gets about a quarter of the core, enough for click counting to keep up with visits. One at
 * `expensive` gets about 3 %, because several such threads may be busy at once.
 */
export const NICENESS_INCREMENTS = { counting: 5, expensive: 15 } as const
/** The lowest priority. */
const NICENESS_MAX = 19

/**
 * Lowers the priority of the calling thread. On Linux each thread has its own niceness, and 0 means the
 * caller (setpriority(2), "Bugs"). Elsewhere niceness belongs to the whole process, so nothing is changed.
 */
export function lowerPriority(increment: number): void {
  if (process.platform !== 'linux') return
  setPriority(0, Math.min(NICENESS_MAX, getPriority(0) + increment))
}
