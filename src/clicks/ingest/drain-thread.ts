import type { Worker } from 'node:worker_threads'
import { backoffMs } from '../../platform/work/backoff.ts'
import type { JournalPosition } from '../store/click-store.ts'
import type { DrainOrder, DrainReport, JournalPlace } from './drain-messages.ts'

/** Clicks of this long are told of together: a message costs as much as a redirect. */
const GATHER_MS = 80
const RESTART_BASE_MS = 200
const RESTART_CAP_MS = 30_000
/** A thread that has lived for this long has not failed again, but anew. */
const HEALTHY_MS = 60_000

type TakingIn = {
  readonly journal: JournalPlace
  /** How far it has come; undefined while that is not known. */
  position: JournalPosition | undefined
  resolve(): void
  reject(error: unknown): void
}

/**
 * The thread that takes journals into the store, so that no visitor waits for a database. One that
 * crashes is started again, and goes on from what the store has: nothing is lost or counted twice.
 */
export class DrainThread {
  readonly #startWorker: () => Worker
  readonly #writing: () => number
  readonly #onError: (error: unknown) => void
  readonly #onDamage: (bytes: number, copy: string | undefined) => void
  readonly #takingIn = new Map<string, TakingIn>()
  #worker: Worker | undefined
  #isStarted = false
  #startedAtMs = 0
  #failures = 0
  #gathering: NodeJS.Timeout | undefined
  #restarting: NodeJS.Timeout | undefined
  #stopping: { readonly ended: Promise<void>; end(): void } | undefined

  /**
   * @param options.startWorker starts a thread that runs `serveDrain` on its parent port
   * @param options.writing the segment to which this node's journal is being appended
   */
  constructor(options: {
    startWorker: () => Worker
    writing: () => number
    onError: (error: unknown) => void
    onDamage: (bytes: number, copy: string | undefined) => void
  }) {
    this.#startWorker = options.startWorker
    this.#writing = options.writing
    this.#onError = options.onError
    this.#onDamage = options.onDamage
  }

  /** The journals that are being taken in, or wait for it. */
  get takingIn(): readonly Readonly<Pick<TakingIn, 'journal' | 'position'>>[] {
    return [...this.#takingIn.values()]
  }

  /** Starts the thread. What it is told before that waits for it. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#start()
  }

  /** Says that there is something to read in this node's journal. */
  wake(): void {
    if (this.#gathering !== undefined || this.#stopping !== undefined) return
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined
      this.#order({ kind: 'wake', writing: this.#writing() })
    }, GATHER_MS)
  }

  /** Takes a journal in to which nobody appends. Rejects where the store does not take all of it. */
  takeIn(journal: JournalPlace): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#takingIn.set(journal.id, { journal, position: undefined, resolve, reject })
      this.#order({ kind: 'take in', journal: { id: journal.id, folder: journal.folder } })
    })
  }

  /** Takes in what is left, where it has ever been started, and ends. The journal must be closed. */
  async stop(deadline: Promise<void>): Promise<void> {
    clearTimeout(this.#gathering)
    if (!this.#isStarted) {
      for (const { reject } of this.#takingIn.values()) reject(new Error('nothing was drained'))
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#stopping = { ended: promise, end: resolve }
    if (this.#worker === undefined) this.#start()
    else this.#order({ kind: 'stop' })
    this.#worker?.ref()
    await Promise.race([promise, deadline])
    clearTimeout(this.#restarting)
    await this.#worker?.terminate()
  }

  #start(): void {
    clearTimeout(this.#restarting)
    const worker = this.#startWorker()
    this.#worker = worker
    this.#startedAtMs = performance.now()
    if (this.#stopping === undefined) worker.unref()
    let failure: unknown = new Error('the drain thread ended')
    worker.on('message', (report: DrainReport) => this.#hear(report))
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', () => this.#ended(failure))
    this.#order({ kind: 'wake', writing: this.#writing() })
    for (const { journal } of this.#takingIn.values()) {
      this.#order({ kind: 'take in', journal: { id: journal.id, folder: journal.folder } })
    }
    if (this.#stopping !== undefined) this.#order({ kind: 'stop' })
  }

  #hear(report: DrainReport): void {
    switch (report.kind) {
      case 'error':
        this.#onError(report.error)
        break
      case 'damage':
        this.#onDamage(report.bytes, report.copy)
        break
      case 'read': {
        const taking = this.#takingIn.get(report.id)
        if (taking !== undefined) taking.position = report.position
        break
      }
      case 'taken in':
        this.#endTaking(report.id)?.resolve()
        break
      case 'not taken in':
        this.#endTaking(report.id)?.reject(report.error)
        break
      case 'stopped':
        this.#stopping?.end()
        break
    }
  }

  #endTaking(id: string): TakingIn | undefined {
    const taking = this.#takingIn.get(id)
    this.#takingIn.delete(id)
    return taking
  }

  #ended(failure: unknown): void {
    this.#worker = undefined
    if (this.#stopping !== undefined) {
      for (const { reject } of this.#takingIn.values()) reject(failure)
      this.#stopping.end()
      return
    }
    this.#onError(failure)
    this.#failures = performance.now() - this.#startedAtMs > HEALTHY_MS ? 1 : this.#failures + 1
    const wait = backoffMs(this.#failures, RESTART_BASE_MS, RESTART_CAP_MS, Math.random())
    this.#restarting = setTimeout(() => this.#start(), RESTART_BASE_MS + wait)
    this.#restarting.unref()
  }

  #order(order: DrainOrder): void {
    this.#worker?.postMessage(order)
  }
}
