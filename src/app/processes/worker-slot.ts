import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { backoffMs } from '../../platform/work/async.ts'
import type { Ending, WorkerProcess } from './worker-process.ts'

/** A process that ran for less than this counts as failed, and the next start backs off. */
const STABLE_MS = 1_000
const RESTART_BASE_MS = 100
const RESTART_CAP_MS = 5_000
/** Longer than a worker's own deadline for stopping. */
const KILL_AFTER_MS = 30_000

/** Keeps one worker process running, and restarts it with a backoff when it ends. */
export class WorkerSlot {
  readonly #number: number
  readonly #launch: () => WorkerProcess
  readonly #onPause: () => void
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #running = new Set<WorkerProcess>()
  /** The newest process, which the slot keeps running; undefined while there is none. */
  #current: WorkerProcess | undefined
  #failures = 0
  #reviving: Promise<void> | undefined

  /**
   * @param options.onPause called when the slot will be empty for the time of a backoff
   */
  constructor(options: {
    number: number
    launch: () => WorkerProcess
    onPause: () => void
    log: Logger
  }) {
    this.#number = options.number
    this.#launch = options.launch
    this.#onPause = options.onPause
    this.#log = options.log
  }

  /** The processes that have not ended, including those that are starting or stopping. */
  get running(): Iterable<WorkerProcess> {
    return this.#running
  }

  /** The newest process that has become ready and has not ended; undefined while there is none. */
  get serving(): WorkerProcess | undefined {
    return [...this.#running].findLast(({ isReady }) => isReady)
  }

  /** Starts the first process. Returns its greeting, or undefined when it ended before it was ready. */
  async start(): Promise<string | undefined> {
    const worker = this.#begin()
    const greeting = await worker?.ready
    if (worker !== undefined && greeting !== undefined) this.#settle(worker)
    return greeting
  }

  /** Retries until a process starts, for a slot whose `start` failed. */
  revive(): void {
    this.#reviving ??= this.#revive().finally(() => {
      this.#reviving = undefined
    })
  }

  /**
   * Starts a new process and, once it is ready, stops the old one. Returns false when the new one did
   * not become ready: then the old one stays.
   */
  async replace(): Promise<boolean> {
    // A process that is being started already has the new settings.
    await this.#reviving
    const old = this.#current
    if (this.#stopping.signal.aborted) return false
    this.#current = undefined
    const next = this.#begin()
    if (next === undefined || (await next.ready) === undefined) {
      this.#current = old
      if (old === undefined || old.hasEnded) this.revive()
      return false
    }
    this.#settle(next)
    if (old !== undefined) await this.#end(old, 0)
    return true
  }

  /**
   * Stops the processes. Returns true when every one has exited with 0.
   *
   * @param delayMs for how long they keep serving while they report that the service is not ready
   */
  async stop(delayMs: number): Promise<boolean> {
    this.#stopping.abort()
    const endings = await Promise.all(
      [...this.#running].map((worker) => this.#end(worker, delayMs)),
    )
    await this.#reviving
    return endings.every(({ code }) => code === 0)
  }

  /** Returns undefined when the system cannot start a process, for example with too many open files. */
  #begin(): WorkerProcess | undefined {
    try {
      const worker = this.#launch()
      this.#running.add(worker)
      void worker.ended.then(() => this.#running.delete(worker))
      return worker
    } catch (error) {
      this.#log.error({ err: error, process: this.#number }, 'process start failed')
      return undefined
    }
  }

  #settle(worker: WorkerProcess): void {
    this.#current = worker
    this.#log.info({ process: this.#number, pid: worker.pid }, 'process started')
    void worker.ended.then((ending) => {
      if (worker !== this.#current || this.#stopping.signal.aborted) return
      this.#current = undefined
      const stable = performance.now() - worker.startedAtMs >= STABLE_MS
      this.#failures = stable ? 0 : this.#failures + 1
      this.#report(worker, ending)
      this.revive()
    })
  }

  async #revive(): Promise<void> {
    for (;;) {
      if (this.#failures > 0) await this.#wait()
      if (this.#stopping.signal.aborted) return
      const worker = this.#begin()
      if (worker !== undefined && (await worker.ready) !== undefined) {
        this.#settle(worker)
        return
      }
      if (this.#stopping.signal.aborted) return
      this.#failures += 1
      if (worker !== undefined) this.#report(worker, await worker.ended)
    }
  }

  async #wait(): Promise<void> {
    this.#onPause()
    const ms = backoffMs(this.#failures, RESTART_BASE_MS, RESTART_CAP_MS, Math.random())
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }

  #report(worker: WorkerProcess, ending: Ending): void {
    const facts = { process: this.#number, pid: worker.pid, ...ending, failures: this.#failures }
    this.#log.error(facts, 'process exited unexpectedly')
  }

  async #end(worker: WorkerProcess, delayMs: number): Promise<Ending> {
    worker.send({ kind: 'stop', delayMs })
    const late = setTimeout(() => {
      this.#log.error(
        { process: this.#number, pid: worker.pid },
        'process killed after stop timeout',
      )
      worker.kill()
    }, delayMs + KILL_AFTER_MS)
    const ending = await worker.ended
    clearTimeout(late)
    return ending
  }
}
