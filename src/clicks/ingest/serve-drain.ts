import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../platform/time/clock.ts'
import { SerialQueue } from '../../platform/work/serial-queue.ts'
import type { ClickWriter } from '../click-writer.ts'
import { backlogBytes, keepDamagedSegment } from '../journal/journal-reader.ts'
import { listSegments } from '../journal/segments.ts'
import type { ErasedClicks } from '../store/erased-clicks.ts'
import { dayOf } from '../tally/click-day.ts'
import type { DrainCommand, DrainEvent, JournalLocation } from './drain-messages.ts'
import type { DrainProgress } from './drain-progress.ts'
import { Drainer } from './drainer.ts'
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
  /** The running and waiting ingestions of taken over journals. */
  readonly #ingestions = new Set<Promise<void>>()
  readonly #erasures = new Set<Promise<void>>()
  /** Ingests these journals one at a time: many at once would exceed the connection timeout. */
  readonly #queue = new SerialQueue()
  /** Journals whose torn end was reported. They are kept for a while and ingested again. */
  readonly #tornJournals = new Set<string>()
  #activeSegment = 0
  #maintenance: Promise<void>

  constructor(port: MessagePort, options: DrainServerOptions) {
    const { progress, journal } = options
    this.#port = port
    this.#options = options
    this.#own = this.#createDrainer({
      journal,
      activeSegment: () => this.#activeSegment,
      onPosition: (position) => progress.notePosition(position),
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
    } else if (command.kind === 'ingest') {
      const ingestion = this.#queue
        .run(() => this.#ingest(command.journal))
        .finally(() => this.#ingestions.delete(ingestion))
      this.#ingestions.add(ingestion)
    } else if (command.kind === 'erase') {
      this.#erase(command.id, command.erased)
    } else {
      this.#stop().catch((error) => this.#reportError(error))
    }
  }

  #createDrainer(
    journal: Pick<
      ConstructorParameters<typeof Drainer>[0],
      'journal' | 'activeSegment' | 'onPosition'
    >,
  ): Drainer {
    const { writer, clock, progress, keepMs } = this.#options
    return new Drainer({
      writer,
      clock,
      progress,
      keepMs,
      onError: (error) => this.#reportError(error),
      onDamage: (bytes, copy) => this.#report({ kind: 'damage', bytes, copy }),
      ...journal,
    })
  }

  async #maintain(): Promise<void> {
    const { writer, clock, retentionDays } = this.#options
    const today = dayOf(clock.nowMicros())
    try {
      await writer.maintain(today, retentionDays === 0 ? undefined : today - retentionDays)
    } catch (error) {
      this.#reportError(error)
    }
  }

  async #ingest(journal: JournalLocation): Promise<void> {
    const { id, folder } = journal
    try {
      // The last segment is treated as active: a torn frame at its end is not skipped, because a copy of
      // the journal may hold the complete frame.
      const last = listSegments(folder).at(-1) ?? 0
      const drainer = this.#createDrainer({
        journal,
        activeSegment: () => last,
        onPosition: (position) => this.#report({ kind: 'progress', id, position }),
      })
      await drainer.drain()
      await this.#reportTornEnd(journal, last)
      this.#report({ kind: 'ingested', id })
    } catch (error) {
      this.#report({ kind: 'ingest failed', id, error: cloneable(error) })
    }
  }

  #erase(id: number, erased: ErasedClicks): void {
    const erasure = this.#options.writer
      .erase(erased)
      .then(() => this.#report({ kind: 'erased', id }))
      .catch((error) => this.#report({ kind: 'erase failed', id, error: cloneable(error) }))
      .finally(() => this.#erasures.delete(erasure))
    this.#erasures.add(erasure)
  }

  async #reportTornEnd(journal: JournalLocation, segment: number): Promise<void> {
    const { id, folder } = journal
    const bytes = backlogBytes(folder, await this.#options.writer.findPosition(id))
    if (bytes === 0 || this.#tornJournals.has(id)) return
    this.#report({ kind: 'damage', bytes, copy: keepDamagedSegment(journal, segment) })
    this.#tornJournals.add(id)
  }

  async #stop(): Promise<void> {
    clearInterval(this.#maintenanceTimer)
    this.#activeSegment = Number.POSITIVE_INFINITY
    await Promise.all([this.#own.stop(), this.#spools.stop()])
    try {
      await this.#own.drain()
    } catch (error) {
      this.#reportError(error)
    }
    await Promise.all([...this.#ingestions, ...this.#erasures, this.#maintenance])
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

/** Copies an error for another thread: structured cloning drops the fields of subclasses. */
function cloneable(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const { name, message, stack, cause } = error
  const copy = new Error(message, cause === undefined ? {} : { cause: cloneable(cause) })
  return Object.assign(copy, { name, stack })
}
