import type { Worker } from 'node:worker_threads'
import { backoffMs } from '../../platform/work/async.ts'
import type { JournalPosition } from '../store/click-store.ts'
import type { ErasedClicks } from '../store/raw-click-source.ts'
import type {
  DrainCommand,
  DrainEvent,
  DrainTask,
  JournalDamage,
  JournalLocation,
} from './drain-messages.ts'

/** At most one `wake` message in this time: a message costs as much as a redirect. */
const WAKE_DELAY_MS = 80
const RESTART_BASE_MS = 200
const RESTART_CAP_MS = 30_000
/** After running for this long, a crash no longer counts as a repeated one. */
const HEALTHY_MS = 60_000

type RunningTask = {
  readonly task: DrainTask
  /** The position up to which its journal is ingested; undefined while unknown. */
  position: JournalPosition | undefined
  resolve(): void
  reject(error: unknown): void
}

type Options = {
  /** Starts a thread that runs `serveDrain` on its parent port. */
  readonly startWorker: () => Worker
  /** Returns the segment that this node's journal appends to. */
  readonly activeSegment: () => number
  readonly onError: (error: unknown) => void
  readonly onDamage: (damage: JournalDamage) => void
}

/**
 * The thread that ingests journals, so that no visitor waits for the database. After a crash it restarts and
 * continues from the position in the store: no click is lost or counted twice.
 */
export class DrainThread {
  readonly #options: Options
  readonly #tasks = new Map<number, RunningTask>()
  #lastTask = 0
  #worker: Worker | undefined
  #isStarted = false
  #startedAtMs = 0
  #failures = 0
  #wakeTimer: NodeJS.Timeout | undefined
  #restarting: NodeJS.Timeout | undefined
  #stopping: { readonly ended: Promise<void>; end(): void } | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** The taken over journals that are being ingested or wait for it. */
  get ingesting(): readonly { journal: JournalLocation; position: JournalPosition | undefined }[] {
    return [...this.#tasks.values()].flatMap(({ task, position }) =>
      task.kind === 'ingest' ? { journal: task.journal, position } : [],
    )
  }

  /** Starts the thread. Commands from before the start are kept for it. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#start()
  }

  /** Reports that this node's journal has new clicks. */
  wake(): void {
    if (this.#wakeTimer !== undefined || this.#stopping !== undefined) return
    this.#wakeTimer = setTimeout(() => {
      this.#wakeTimer = undefined
      this.#send({ kind: 'wake', activeSegment: this.#options.activeSegment() })
    }, WAKE_DELAY_MS)
  }

  /** Ingests a journal that no process appends to. Rejects if the store does not accept all of it. */
  ingest({ id, folder }: JournalLocation): Promise<void> {
    return this.#run({ kind: 'ingest', journal: { id, folder } })
  }

  /** Removes clicks (`ClickWriter.erase`). Rejects if the store does not, or the thread is not running. */
  async erase(erased: ErasedClicks): Promise<void> {
    if (this.#worker === undefined || this.#stopping !== undefined) {
      throw new Error('the drain thread is not running')
    }
    await this.#run({ kind: 'erase', erased })
  }

  /** Ingests the remaining clicks if the thread was ever started, then ends it. The journal must be closed. */
  async stop(deadline: Promise<void>): Promise<void> {
    clearTimeout(this.#wakeTimer)
    if (!this.#isStarted) {
      this.#rejectAll(new Error('the drain thread was not started'))
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#stopping = { ended: promise, end: resolve }
    if (this.#worker === undefined) this.#start()
    else this.#send({ kind: 'stop' })
    this.#worker?.ref()
    await Promise.race([promise, deadline])
    clearTimeout(this.#restarting)
    await this.#worker?.terminate()
  }

  #start(): void {
    clearTimeout(this.#restarting)
    const worker = this.#options.startWorker()
    this.#worker = worker
    this.#startedAtMs = performance.now()
    if (this.#stopping === undefined) worker.unref()
    let failure: unknown = new Error('the drain thread ended')
    worker.on('message', (event: DrainEvent) => this.#receive(event))
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', () => this.#ended(failure))
    this.#send({ kind: 'wake', activeSegment: this.#options.activeSegment() })
    for (const [id, { task }] of this.#tasks) this.#send({ kind: 'run', id, task })
    if (this.#stopping !== undefined) this.#send({ kind: 'stop' })
  }

  #receive(event: DrainEvent): void {
    switch (event.kind) {
      case 'error':
        this.#options.onError(event.error)
        break
      case 'damage':
        this.#options.onDamage(event.damage)
        break
      case 'progress': {
        const running = this.#tasks.get(event.id)
        if (running !== undefined) running.position = event.position
        break
      }
      case 'ended': {
        const running = this.#endTask(event.id)
        if (event.error === undefined) running?.resolve()
        else running?.reject(event.error)
        break
      }
      case 'stopped':
        this.#stopping?.end()
        break
    }
  }

  #run(task: DrainTask): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#lastTask += 1
    this.#tasks.set(this.#lastTask, { task, position: undefined, resolve, reject })
    this.#send({ kind: 'run', id: this.#lastTask, task })
    return promise
  }

  #endTask(id: number): RunningTask | undefined {
    const running = this.#tasks.get(id)
    this.#tasks.delete(id)
    return running
  }

  /** @param kind of the tasks; defaults to all */
  #rejectAll(error: unknown, kind?: DrainTask['kind']): void {
    for (const [id, { task }] of this.#tasks) {
      if (kind === undefined || task.kind === kind) this.#endTask(id)?.reject(error)
    }
  }

  #ended(failure: unknown): void {
    this.#worker = undefined
    if (this.#stopping !== undefined) {
      this.#rejectAll(failure)
      this.#stopping.end()
      return
    }
    // The next thread ingests the journals.
    this.#rejectAll(failure, 'erase')
    this.#options.onError(failure)
    this.#failures = performance.now() - this.#startedAtMs > HEALTHY_MS ? 1 : this.#failures + 1
    const wait = backoffMs(this.#failures, RESTART_BASE_MS, RESTART_CAP_MS, Math.random())
    this.#restarting = setTimeout(() => this.#start(), RESTART_BASE_MS + wait)
    this.#restarting.unref()
  }

  #send(command: DrainCommand): void {
    this.#worker?.postMessage(command)
  }
}
