import type { Worker } from 'node:worker_threads'
import { backoffMs } from '../../platform/work/backoff.ts'
import type { JournalPosition } from '../store/click-store.ts'
import type { ErasedClicks } from '../store/erased-clicks.ts'
import type { DrainCommand, DrainEvent, JournalLocation } from './drain-messages.ts'

/** At most one `wake` message in this time: a message costs as much as a redirect. */
const WAKE_DELAY_MS = 80
const RESTART_BASE_MS = 200
const RESTART_CAP_MS = 30_000
/** After running for this long, a crash no longer counts as a repeated one. */
const HEALTHY_MS = 60_000

type Ingestion = {
  readonly journal: JournalLocation
  /** The position up to which it is ingested; undefined while unknown. */
  position: JournalPosition | undefined
  resolve(): void
  reject(error: unknown): void
}

type Erasure = { resolve(): void; reject(error: unknown): void }

/**
 * The thread that ingests journals, so that no visitor waits for the database. After a crash it restarts and
 * continues from the position in the store: no click is lost or counted twice.
 */
export class DrainThread {
  readonly #startWorker: () => Worker
  readonly #activeSegment: () => number
  readonly #onError: (error: unknown) => void
  readonly #onDamage: (bytes: number, copy: string | undefined) => void
  readonly #ingesting = new Map<string, Ingestion>()
  readonly #erasing = new Map<number, Erasure>()
  #lastErasure = 0
  #worker: Worker | undefined
  #isStarted = false
  #startedAtMs = 0
  #failures = 0
  #wakeTimer: NodeJS.Timeout | undefined
  #restarting: NodeJS.Timeout | undefined
  #stopping: { readonly ended: Promise<void>; end(): void } | undefined

  /**
   * @param options.startWorker starts a thread that runs `serveDrain` on its parent port
   * @param options.activeSegment returns the segment that this node's journal appends to
   */
  constructor(options: {
    startWorker: () => Worker
    activeSegment: () => number
    onError: (error: unknown) => void
    onDamage: (bytes: number, copy: string | undefined) => void
  }) {
    this.#startWorker = options.startWorker
    this.#activeSegment = options.activeSegment
    this.#onError = options.onError
    this.#onDamage = options.onDamage
  }

  /** The taken over journals that are being ingested or wait for it. */
  get ingesting(): readonly Readonly<Pick<Ingestion, 'journal' | 'position'>>[] {
    return [...this.#ingesting.values()]
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
      this.#send({ kind: 'wake', activeSegment: this.#activeSegment() })
    }, WAKE_DELAY_MS)
  }

  /** Ingests a journal that no process appends to. Rejects if the store does not accept all of it. */
  ingest(journal: JournalLocation): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#ingesting.set(journal.id, { journal, position: undefined, resolve, reject })
      this.#send({ kind: 'ingest', journal: { id: journal.id, folder: journal.folder } })
    })
  }

  /** Removes clicks (`ClickWriter.erase`). Rejects if the store does not, or the thread is not running. */
  erase(erased: ErasedClicks): Promise<void> {
    if (this.#worker === undefined || this.#stopping !== undefined) {
      return Promise.reject(new Error('the drain thread is not running'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#lastErasure += 1
    this.#erasing.set(this.#lastErasure, { resolve, reject })
    this.#send({ kind: 'erase', id: this.#lastErasure, erased })
    return promise
  }

  /** Ingests the remaining clicks if the thread was ever started, then ends it. The journal must be closed. */
  async stop(deadline: Promise<void>): Promise<void> {
    clearTimeout(this.#wakeTimer)
    if (!this.#isStarted) {
      for (const { reject } of this.#ingesting.values())
        reject(new Error('the drain thread was not started'))
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
    const worker = this.#startWorker()
    this.#worker = worker
    this.#startedAtMs = performance.now()
    if (this.#stopping === undefined) worker.unref()
    let failure: unknown = new Error('the drain thread ended')
    worker.on('message', (event: DrainEvent) => this.#receive(event))
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', () => this.#ended(failure))
    this.#send({ kind: 'wake', activeSegment: this.#activeSegment() })
    for (const { journal } of this.#ingesting.values()) {
      this.#send({ kind: 'ingest', journal: { id: journal.id, folder: journal.folder } })
    }
    if (this.#stopping !== undefined) this.#send({ kind: 'stop' })
  }

  #receive(event: DrainEvent): void {
    switch (event.kind) {
      case 'error':
        this.#onError(event.error)
        break
      case 'damage':
        this.#onDamage(event.bytes, event.copy)
        break
      case 'progress': {
        const ingestion = this.#ingesting.get(event.id)
        if (ingestion !== undefined) ingestion.position = event.position
        break
      }
      case 'ingested':
        this.#endIngestion(event.id)?.resolve()
        break
      case 'ingest failed':
        this.#endIngestion(event.id)?.reject(event.error)
        break
      case 'erased':
        this.#endErasure(event.id)?.resolve()
        break
      case 'erase failed':
        this.#endErasure(event.id)?.reject(event.error)
        break
      case 'stopped':
        this.#stopping?.end()
        break
    }
  }

  #endIngestion(id: string): Ingestion | undefined {
    const ingestion = this.#ingesting.get(id)
    this.#ingesting.delete(id)
    return ingestion
  }

  #endErasure(id: number): Erasure | undefined {
    const erasure = this.#erasing.get(id)
    this.#erasing.delete(id)
    return erasure
  }

  #ended(failure: unknown): void {
    this.#worker = undefined
    for (const { reject } of this.#erasing.values()) reject(failure)
    this.#erasing.clear()
    if (this.#stopping !== undefined) {
      for (const { reject } of this.#ingesting.values()) reject(failure)
      this.#stopping.end()
      return
    }
    this.#onError(failure)
    this.#failures = performance.now() - this.#startedAtMs > HEALTHY_MS ? 1 : this.#failures + 1
    const wait = backoffMs(this.#failures, RESTART_BASE_MS, RESTART_CAP_MS, Math.random())
    this.#restarting = setTimeout(() => this.#start(), RESTART_BASE_MS + wait)
    this.#restarting.unref()
  }

  #send(command: DrainCommand): void {
    this.#worker?.postMessage(command)
  }
}
