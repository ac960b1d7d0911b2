import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { Worker } from 'node:worker_threads'
import { createFolder, probeFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import type { Click, ClickRecorder } from '../click.ts'
import {
  createJournal,
  type JournalFolder,
  journalsRoot,
  listSegments,
  lockJournal,
  removeLeftovers,
  takeOverJournals,
} from '../journal/journal-folder.ts'
import { BacklogReader, type JournalBacklog } from '../journal/journal-reader.ts'
import {
  type ClickDurability,
  type JournalFiles,
  JournalWriter,
} from '../journal/journal-writer.ts'
import type { ErasedClicks } from '../store/raw-click-source.ts'
import { DrainProgress, type JournalDamage, type JournalLocation } from './drain-messages.ts'
import { DrainThread } from './drain-thread.ts'

/**
 * How often to look whether the own journal is where it was created: three system calls, and a copy of the active
 * segment if that was removed.
 */
const CHECK_INTERVAL_MS = 1_000
/** How often to look for journals of processes that crashed. */
const TAKEOVER_INTERVAL_MS = 30_000
/** Taken over at a time: after repeated crashes there may be thousands, and each takes an open file. */
const TAKEN_OVER_MAX = 64
const FIRST_PROCESS = 1
const STOP_DEADLINE_MS = 10_000

/** A journal that this process holds, and its clicks that are not in the database yet. */
export type HeldJournal = JournalBacklog & { readonly id: string }

export type IntakeReports = {
  readonly onLost: (count: number, error: unknown) => void
  /** See `JournalWriter`, as the next. */
  readonly onRecovered?: () => void
  readonly onRestored?: (bytes: number) => void
  readonly onDoubt: (count: number, error: unknown) => void
  readonly onDamage: (damage: JournalDamage) => void
  readonly onError: (error: unknown) => void
  /** Called when a taken over journal has been ingested completely; awaited before it is removed. */
  readonly onIngested: (journalId: string) => Promise<void> | undefined
}

type IntakeOptions = IntakeReports & {
  readonly dataDir: string
  /** The number of this process in the service; 1 when left out. */
  readonly processNumber?: number
  /** How long ingested journals of other processes are kept, at least. */
  readonly keepMs: number
  /**
   * Starts the thread that drains this node's journal (serve-drain.ts). `progress` is the shared memory of
   * a `DrainProgress`.
   */
  readonly startWorker: (journal: JournalLocation, progress: SharedArrayBuffer) => Worker
  readonly durability: ClickDurability
  readonly files?: JournalFiles
  /** See `JournalWriter`. */
  readonly freeSpace?: (error: unknown) => boolean
}

/**
 * Creates a journal for this process and takes over those of ended processes. It never appends to an
 * existing journal: a data folder may have been copied to another machine or restored from a backup, and
 * clicks that two processes write under the same position would be counted once.
 */
export function startClickIntake(options: IntakeOptions): ClickIntake {
  const intake = new ClickIntake(options)
  intake.start()
  return intake
}

/** Records clicks in this process's journal, and ingests it and the journals of ended processes. */
export class ClickIntake implements ClickRecorder {
  /** The id of this process's own journal. */
  readonly journalId: string = randomUUID()
  /** What has been ingested since the start, from this process's journal and from others. */
  readonly progress = new DrainProgress()
  readonly #options: IntakeOptions
  readonly #lost: LostClicks
  readonly #root: string
  readonly #folder: string
  readonly #writer: JournalWriter
  readonly #thread: DrainThread
  /** When journals of other processes that are kept for a while were ingested first. */
  readonly #keptSinceMs = new Map<string, number>()
  readonly #backlogs = new BacklogReader()
  #own: JournalFolder | undefined
  #takeovers: NodeJS.Timeout | undefined
  #checks: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  #stopped: Promise<JournalBacklog> | undefined

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#lost = new LostClicks(options.dataDir, options.processNumber ?? FIRST_PROCESS)
    this.#root = journalsRoot(options.dataDir)
    this.#folder = path.join(this.#root, this.journalId)
    this.#writer = new JournalWriter({
      folder: this.#folder,
      durability: options.durability,
      ...(options.files && { files: options.files }),
      createFolder: () => this.#holdJournal(),
      freeSpace: options.freeSpace,
      onWritten: () => this.#thread.wake(),
      onLost: (count, error) => {
        this.#lost.add(count)
        options.onLost(count, error)
      },
      ...(options.onRecovered && { onRecovered: options.onRecovered }),
      ...(options.onRestored && { onRestored: options.onRestored }),
      onDoubt: options.onDoubt,
    })
    this.#thread = new DrainThread({
      startWorker: () =>
        options.startWorker({ id: this.journalId, folder: this.#folder }, this.progress.buffer),
      activeSegment: () => this.#writer.segment,
      onError: options.onError,
      onDamage: (damage) => {
        this.#lost.add(damage.clicks)
        options.onDamage(damage)
      },
    })
  }

  /** See `JournalWriter`; but `lost` is what `LostClicks` counts. */
  get counts(): Readonly<JournalWriter['counts']> {
    return { ...this.#writer.counts, lost: this.#lost.count }
  }

  /** Why clicks cannot be stored; undefined while they can. */
  get fault(): unknown {
    return this.#writer.fault
  }

  start(): void {
    removeLeftovers(this.#root)
    this.#takeOver()
    // Redirects must work on a full disk. Each click and each check tries to create the journal again.
    this.#writer.check()
    this.#checks = setInterval(() => {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined
      })
    }, CHECK_INTERVAL_MS)
    this.#checks.unref()
    this.#takeovers = setInterval(() => this.#takeOver(), TAKEOVER_INTERVAL_MS)
    this.#takeovers.unref()
  }

  record(click: Click, done: (isStored: boolean) => void): void {
    this.#writer.record(click, done)
  }

  /** Starts ingesting clicks; until then they wait in the journal. */
  startDraining(): void {
    this.#thread.start()
  }

  /** Removes clicks of deleted links or workspaces; see `ClickWriter.erase`. */
  erase(erased: ErasedClicks): Promise<void> {
    return this.#thread.erase(erased)
  }

  /** Pauses or resumes ingesting clicks. */
  pauseDraining(isPaused: boolean): void {
    this.progress.set('paused', isPaused ? 1 : 0)
  }

  /**
   * Returns this process's own journal, then the journals taken over that are being ingested. Looks at the files of
   * each, and reads the oldest click where clicks were ingested since the last call: about a millisecond.
   */
  held(): readonly [own: HeldJournal, ...takenOver: HeldJournal[]] {
    const activeSegment = Number.POSITIVE_INFINITY
    const takenOver = this.#thread.ingesting.map(({ journal, position }) => ({
      id: journal.id,
      ...this.#backlogs.read(journal.folder, position, activeSegment),
    }))
    return [{ id: this.journalId, ...this.#backlog() }, ...takenOver]
  }

  /**
   * Stops within 10 s. Returns the clicks that were not ingested; they stay in the own journal.
   *
   * @param options.discard removes the own journal, for a process that never answered a visitor
   */
  stop(options: { discard?: boolean } = {}): Promise<JournalBacklog> {
    this.#stopped ??= this.#stop(options)
    return this.#stopped
  }

  async #stop({ discard = false }: { discard?: boolean }): Promise<JournalBacklog> {
    clearInterval(this.#takeovers)
    clearInterval(this.#checks)
    await this.#checking
    if (!discard) {
      this.#writer.flush()
      this.#writer.check()
    }
    const closed = this.#writer.close()
    const deadline = AbortSignal.timeout(STOP_DEADLINE_MS)
    const expired = new Promise<void>((resolve) => {
      deadline.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([closed, expired])
    await this.#thread.stop(expired)
    const left = this.#backlog()
    this.#lost.flush()
    if (discard) this.#own?.remove()
    // The next process takes it over and removes it.
    else this.#own?.release()
    return left
  }

  /** Creates the own journal, or locks it again if it was moved away and back. */
  #holdJournal(): void {
    if (this.#own?.isInPlace() === false) {
      this.#own.release()
      this.#own = undefined
    }
    this.#own ??=
      lockJournal(this.#root, this.journalId) ?? createJournal(this.#root, this.journalId)
  }

  /** Ends a fault also while no visitor comes whose click could be written. */
  async #check(): Promise<void> {
    const before = this.#writer.fault
    this.#writer.check()
    const { fault } = this.#writer
    // A check that fails sets a fault of its own, which the probe of the folder does not disprove.
    if (fault !== before) return
    try {
      const isOver = fault !== undefined && (await probeFolder(this.#folder)) === undefined
      // A click that could not be written in the meantime is more recent.
      if (isOver && this.#writer.fault === fault) this.#writer.recover()
    } catch {
      // For example too many open files.
    }
  }

  #backlog(): JournalBacklog {
    return this.#backlogs.read(this.#folder, this.progress.position, this.#writer.segment)
  }

  /** Takes over journals of ended processes, except those that are only kept for a while. */
  #takeOver(): void {
    if (this.#stopped !== undefined) return
    const nowMs = performance.now()
    const isWanted = (id: string) =>
      id !== this.journalId &&
      nowMs - (this.#keptSinceMs.get(id) ?? Number.NEGATIVE_INFINITY) >= this.#options.keepMs
    const countMax = TAKEN_OVER_MAX - this.#thread.ingesting.length
    try {
      for (const journal of takeOverJournals(this.#root, { countMax, isWanted })) {
        this.#ingest(journal)
      }
    } catch (error) {
      // For example too many open files; the next attempt may succeed.
      this.#options.onError(error)
    }
  }

  #ingest(journal: JournalFolder): void {
    this.#thread
      .ingest(journal)
      .then(async () => {
        // Before the journal is removed: after a crash its folder is the only trace of that process.
        await this.#options.onIngested(journal.id)
        this.#removeOrKeep(journal)
        if (this.#thread.ingesting.length === 0) this.#takeOver()
      })
      .catch((error) => {
        // The journal stays in its place for the next attempt.
        journal.release()
        this.#options.onError(error)
      })
      .finally(() => this.#backlogs.forget(journal.folder))
  }

  /** Removes an ingested journal, or releases it if it must be kept; a later takeover checks it again. */
  #removeOrKeep(journal: JournalFolder): void {
    const nowMs = performance.now()
    const sinceMs = this.#keptSinceMs.get(journal.id) ?? nowMs
    // A journal without segments has no clicks that could be needed again.
    if (nowMs - sinceMs < this.#options.keepMs && listSegments(journal.folder).length > 0) {
      this.#keptSinceMs.set(journal.id, sinceMs)
      journal.release()
    } else {
      this.#keptSinceMs.delete(journal.id)
      journal.remove()
    }
  }
}

/** A loss is written once in this time: on a full disk each visit may be one. */
const WRITE_DELAY_MS = 500
/** Always as many, so that the file needs no further block on a full disk. */
const DIGITS = 16

/**
 * Counts the clicks that a process could not store, or that were lost with damaged journals. A file of the data folder
 * keeps the count: a restart does not reset it, and an operator can remove the file to count from 0.
 */
export class LostClicks {
  readonly #file: string
  #stored = 0
  #unstored = 0
  #timer: NodeJS.Timeout | undefined

  /** @param processNumber of this process among those of the service: each has a file of its own */
  constructor(dataDir: string, processNumber: number) {
    this.#file = path.join(dataDir, 'lost-clicks', String(processNumber))
    this.flush()
  }

  /** Since the data folder was created. */
  get count(): number {
    return this.#stored + this.#unstored
  }

  add(clicks: number): void {
    if (clicks === 0) return
    this.#unstored += clicks
    this.#timer ??= setTimeout(() => this.flush(), WRITE_DELAY_MS).unref()
  }

  /** Writes the count now. What cannot be written is written with the next loss, or the next `flush`. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      // Read again: during a rolling restart two processes have the same number.
      const count = this.#read() + this.#unstored
      this.#write(count)
      this.#stored = count
      this.#unstored = 0
    } catch {
      // The disk has a fault, which is reported.
    }
  }

  /** Creates the file while there is room: it needs none later. */
  #read(): number {
    try {
      const count = Number(readFileSync(this.#file, 'utf8'))
      return Number.isSafeInteger(count) ? count : 0
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error
      createFolder(path.dirname(this.#file))
      closeSync(openSync(this.#file, 'a', 0o600))
      return 0
    }
  }

  #write(count: number): void {
    const fd = openSync(this.#file, 'r+')
    try {
      writeSync(fd, `${String(count).padStart(DIGITS, '0')}\n`, 0)
    } finally {
      closeSync(fd)
    }
  }
}
