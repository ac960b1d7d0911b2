import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { backoffMs } from '../../platform/work/backoff.ts'
import type { Ending, WorkerProcess } from './worker-process.ts'

/** One that ran for less long counts as failed, and the next one waits. */
const STABLE_MS = 1_000
const RESTART_BASE_MS = 100
const RESTART_CAP_MS = 5_000
/** Later than a worker gives up by itself whatever it waits for. */
const KILL_AFTER_MS = 30_000

/** Keeps one process running in one of the places of a service. */
export class Place {
  readonly #number: number
  readonly #launch: () => WorkerProcess
  readonly #rest: () => void
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #running = new Set<WorkerProcess>()
  /** The one that is to be there; undefined while there is none. */
  #current: WorkerProcess | undefined
  #failures = 0
  #reviving: Promise<void> | undefined

  /**
   * @param options.rest called when the place will be empty for a while
   */
  constructor(options: {
    number: number
    launch: () => WorkerProcess
    rest: () => void
    log: Logger
  }) {
    this.#number = options.number
    this.#launch = options.launch
    this.#rest = options.rest
    this.#log = options.log
  }

  /** The processes that have not ended, also those that are starting or stopping. */
  get running(): Iterable<WorkerProcess> {
    return this.#running
  }

  /** The newest process that answers requests, or has and is finishing; undefined while there is none. */
  get serving(): WorkerProcess | undefined {
    return [...this.#running].findLast(({ isReady }) => isReady)
  }

  /** Starts the first process; its greeting, or undefined when it ended before it was ready. */
  async start(): Promise<string | undefined> {
    const worker = this.#begin()
    const greeting = await worker?.ready
    if (worker !== undefined && greeting !== undefined) this.#settle(worker)
    return greeting
  }

  /** Starts anew until it succeeds, for a place where `start` did not. */
  revive(): void {
    this.#reviving ??= this.#revive().finally(() => {
      this.#reviving = undefined
    })
  }

  /**
   * Starts a new process and, once it is ready, stops the old one. False when the new one did not
   * become ready: then the old one stays.
   */
  async replace(): Promise<boolean> {
    // One that is being started has the new settings anyway.
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
   * True when every process has ended as it should.
   *
   * @param delayMs for how long they serve on and say that the service is not ready
   */
  async stop(delayMs: number): Promise<boolean> {
    this.#stopping.abort()
    const endings = await Promise.all(
      [...this.#running].map((worker) => this.#end(worker, delayMs)),
    )
    await this.#reviving
    return endings.every(({ code }) => code === 0)
  }

  /** Undefined where the system does not let us: too many open files, for one. */
  #begin(): WorkerProcess | undefined {
    try {
      const worker = this.#launch()
      this.#running.add(worker)
      void worker.ended.then(() => this.#running.delete(worker))
      return worker
    } catch (error) {
      this.#log.error({ err: error, process: this.#number }, 'a process cannot be started')
      return undefined
    }
  }

  #settle(worker: WorkerProcess): void {
    this.#current = worker
    this.#log.info({ process: this.#number, pid: worker.pid }, 'a process has started')
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
    this.#rest()
    const ms = backoffMs(this.#failures, RESTART_BASE_MS, RESTART_CAP_MS, Math.random())
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }

  #report(worker: WorkerProcess, ending: Ending): void {
    const facts = { process: this.#number, pid: worker.pid, ...ending, failures: this.#failures }
    this.#log.error(facts, 'a process ended by itself; another takes its place')
  }

  async #end(worker: WorkerProcess, delayMs: number): Promise<Ending> {
    worker.send({ kind: 'stop', delayMs })
    const late = setTimeout(() => {
      this.#log.error({ process: this.#number, pid: worker.pid }, 'a process did not stop; killed')
      worker.kill()
    }, delayMs + KILL_AFTER_MS)
    const ending = await worker.ended
    clearTimeout(late)
    return ending
  }
}
