import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../platform/time/clock.ts'
import { SerialQueue } from '../../platform/work/async.ts'
import type { ClickWriter } from '../click-writer.ts'
import { listSegments } from '../journal/journal-folder.ts'
import { backlogBytes, clicksIn, keepDamagedSegment } from '../journal/journal-reader.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { dayOf } from '../tally/click-day.ts'
import type {
  DrainCommand,
  DrainEvent,
  DrainProgress,
  DrainTask,
  JournalLocation,
} from './drain-messages.ts'
import { Drainer, type DrainerOptions } from './drainer.ts'
import { SpoolDrain } from './spool-drain.ts'

const MAINTAIN_INTERVAL_MS = 10 * 60 * 1_000

type DrainServerOptions = {
  writer: ClickWriter
  clock: Clock
  journal: JournalLocation
  progress: DrainProgress
  /** See `Drainer`. */
  keepMs: number
  /** How long raw clicks are kept; 0 keeps them forever. */
  retentionDays: number
}

/** Runs the drain thread: ingests journals and maintains the click store, as `DrainThread` commands. */
export function serveDrain(port: MessagePort, options: DrainServerOptions): void {
  const server = new DrainServer(port, options)
  port.on('message', (command: DrainCommand) => server.handle(command))
}

class DrainServer {
  readonly #port: MessagePort
  readonly #options: DrainServerOptions
  readonly #own: Drainer
  readonly #spools: SpoolDrain
  readonly #maintenanceTimer: NodeJS.Timeout
  /** Tasks that run or wait. */
  readonly #tasks = new Set<Promise<void>>()
  /** Ingests these journals one at a time: many at once would exceed the connection timeout. */
  readonly #queue = new SerialQueue()
  /** Journals whose torn end was reported. They are kept for a while and ingested again. */
  readonly #tornJournals = new Set<string>()
  readonly #stopping = new AbortController()
  #activeSegment = 0
  #maintenance: Promise<void>

  constructor(port: MessagePort, options: DrainServerOptions) {
    const { progress, journal } = options
    this.#port = port
    this.#options = options
    this.#own = this.#createDrainer({
      journal,
      activeSegment: () => this.#activeSegment,
      onPosition: (position) => progress.setPosition(position),
    })
    this.#maintenance = this.#maintain()
    this.#spools = new SpoolDrain({
      ...options,
      onError: (error) => this.#reportError(error),
    })
    this.#maintenanceTimer = setInterval(() => {
      this.#maintenance = this.#maintain()
      this.#own.recheck()
    }, MAINTAIN_INTERVAL_MS)
  }

  handle(command: DrainCommand): void {
    if (command.kind === 'wake') {
      this.#activeSegment = command.activeSegment
      this.#own.wake()
    } else if (command.kind === 'run') {
      this.#run(command.id, command.task)
    } else {
      this.#stop().catch((error) => this.#reportError(error))
    }
  }

  #createDrainer(
    journal: Pick<DrainerOptions, 'journal' | 'activeSegment' | 'onPosition'>,
  ): Drainer {
    return new Drainer({
      ...this.#options,
      ...journal,
      onError: (error) => this.#reportError(error),
      onDamage: (damage) => this.#report({ kind: 'damage', damage }),
    })
  }

  async #maintain(): Promise<void> {
    const { writer, clock, retentionDays } = this.#options
    const today = dayOf(clock.nowMicros())
    try {
      const oldestDay = retentionDays === 0 ? undefined : today - retentionDays
      await writer.maintain(today, oldestDay, this.#stopping.signal)
    } catch (error) {
      this.#reportError(error)
    }
  }

  #run(id: number, task: DrainTask): void {
    const work =
      task.kind === 'ingest'
        ? this.#queue.run(() => this.#ingest(id, task.journal))
        : this.#options.writer.erase(task.erased)
    const running = work
      .then(() => undefined, cloneable)
      .then((error) => {
        this.#tasks.delete(running)
        this.#report({ kind: 'ended', id, error })
      })
    this.#tasks.add(running)
  }

  async #ingest(id: number, journal: JournalLocation): Promise<void> {
    // The last segment is treated as active: a torn frame at its end is not skipped, because a copy of
    // the journal may hold the complete frame.
    const last = listSegments(journal.folder).at(-1) ?? 0
    const drainer = this.#createDrainer({
      journal,
      activeSegment: () => last,
      onPosition: (position) => this.#report({ kind: 'progress', id, position }),
    })
    await drainer.drain()
    await this.#reportTornEnd(journal, last)
  }

  /** Reports what is left of a drained journal: a torn frame, or the end of a begun batch whose bytes are lost. */
  async #reportTornEnd(journal: JournalLocation, segment: number): Promise<void> {
    const { id, folder } = journal
    if (this.#tornJournals.has(id)) return
    const { writer } = this.#options
    const position = await writer.findPosition(id)
    const torn = backlogBytes(folder, position)
    const bytes = torn > 0 ? torn : bytesBetween(position, await writer.findEnd?.(id, position))
    if (bytes === 0) return
    const copy = torn > 0 ? keepDamagedSegment(journal, segment) : undefined
    const damage = { journal: id, bytes, missingSegments: 0, clicks: clicksIn(bytes), copy }
    this.#report({ kind: 'damage', damage })
    this.#tornJournals.add(id)
  }

  async #stop(): Promise<void> {
    clearInterval(this.#maintenanceTimer)
    this.#stopping.abort()
    this.#activeSegment = Number.POSITIVE_INFINITY
    await Promise.all([this.#own.stop(), this.#spools.stop()])
    try {
      await this.#own.drain()
    } catch (error) {
      this.#reportError(error)
    }
    await Promise.all([...this.#tasks, this.#maintenance])
    await this.#options.writer.close()
    this.#report({ kind: 'stopped' })
    this.#port.close()
  }

  #report(event: DrainEvent): void {
    this.#port.postMessage(event)
  }

  #reportError(error: unknown): void {
    this.#report({ kind: 'error', error: cloneable(error) })
  }
}

/** Returns the bytes up to an end, at least those of its segment. */
function bytesBetween(from: JournalPosition | undefined, end: JournalPosition | undefined): number {
  if (end === undefined) return 0
  return end.offset - (from?.segment === end.segment ? from.offset : 0)
}

/** Copies an error for another thread: structured cloning drops the fields of subclasses. */
function cloneable(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const { name, message, stack, cause } = error
  const copy = new Error(message, cause === undefined ? {} : { cause: cloneable(cause) })
  return Object.assign(copy, { name, stack })
}
