import type { Worker } from 'node:worker_threads'
import type { Click, ClickRecorder } from '../domain/clicks/click.ts'
import type { JournalPlace } from './drain-messages.ts'
import { DrainProgress } from './drain-progress.ts'
import { DrainThread } from './drain-thread.ts'
import { backlogOf, type JournalBacklog } from './journal/journal-backlog.ts'
import type { JournalFiles } from './journal/journal-files.ts'
import {
  adoptJournals,
  createJournal,
  finishRemovals,
  type JournalFolder,
  journalsRoot,
} from './journal/journal-folder.ts'
import { type ClickDurability, JournalWriter } from './journal/journal-writer.ts'
import { listSegments } from './journal/segments.ts'

/** How often to look for journals of processes that were killed. */
const ADOPT_INTERVAL_MS = 30_000
/** Of the journals of others at once: after days of crashes there may be thousands. */
const ADOPTED_MAX = 64
const STOP_DEADLINE_MS = 10_000

/** A journal that this process has, and what of it waits. */
export type HeldJournal = JournalBacklog & { readonly id: string }

/** This process's journal, its way into the store, and the journals that ended processes left. */
export type ClickIntake = ClickRecorder & {
  /** Of this process's own journal. */
  readonly journalId: string
  /** Begins to take clicks into the store; until then they wait in the journal. */
  startDraining(): void
  /** Clicks that could not be kept since the start. */
  lost(): number
  /** Clicks since the start of which nobody knows whether they would outlive the machine. */
  doubtful(): number
  /** Clicks that have been journalled since the start. */
  recorded(): number
  /** What has been taken into the store since the start, of this node's journal and of others. */
  readonly progress: DrainProgress
  /**
   * This process's own journal, and then those of ended processes that are being taken in here. Reads
   * from each: a millisecond or so.
   */
  held(): readonly [own: HeldJournal, ...orphans: HeldJournal[]]
  /** Ends within 10 s; what the store did not take stays in the own journal, and is told. */
  stop(): Promise<JournalBacklog>
}

export type IntakeReports = {
  readonly onLost: (count: number, error: unknown) => void
  readonly onDoubt: (count: number, error: unknown) => void
  readonly onDamage: (bytes: number, copy: string | undefined) => void
  readonly onError: (error: unknown) => void
  /** Told of the journal of another process, once nothing of it is left. */
  readonly onTakenIn: (journalId: string) => void
}

/**
 * Begins a journal of its own and takes over those that nobody owns any more. None of these is written
 * on: a data folder may have been copied to another machine, or put back to an older state, and what
 * two write under one name would count once.
 */
export function startClickIntake(
  options: {
    dataDir: string
    /** For how long, at least, the journals of others stay that have been taken in; 0 when left out. */
    keepMs?: number
    /**
     * Starts the thread that drains this node's journal (serve-drain.ts); what it shares with this
     * one is the memory of a `DrainProgress`.
     */
    startWorker: (journal: JournalPlace, progress: SharedArrayBuffer) => Worker
    durability: ClickDurability
    files?: JournalFiles
  } & IntakeReports,
): ClickIntake {
  const root = journalsRoot(options.dataDir)
  finishRemovals(root)
  const orphans = adoptJournals(root, { countMax: ADOPTED_MAX })
  const own = createJournal(root)
  const { keepMs = 0 } = options
  const progress = new DrainProgress()
  /** When journals of others were taken in first that are kept for a while. */
  const keptSinceMs = new Map<string, number>()
  let stopping = false

  const writer = new JournalWriter({
    folder: own.folder,
    durability: options.durability,
    ...(options.files && { files: options.files }),
    onWritten: () => thread.wake(),
    onLost: options.onLost,
    onDoubt: options.onDoubt,
  })
  const thread = new DrainThread({
    startWorker: () => options.startWorker({ id: own.id, folder: own.folder }, progress.buffer),
    writing: () => writer.segment,
    onError: options.onError,
    onDamage: options.onDamage,
  })

  /** Removes a journal that has been taken in, or leaves it to the next look, which makes sure of it. */
  function putAway(taken: JournalFolder): void {
    const nowMs = performance.now()
    const sinceMs = keptSinceMs.get(taken.id) ?? nowMs
    // One that nobody has written to has nothing to be given again.
    if (nowMs - sinceMs < keepMs && listSegments(taken.folder).length > 0) {
      keptSinceMs.set(taken.id, sinceMs)
      taken.release()
    } else {
      keptSinceMs.delete(taken.id)
      taken.remove()
    }
  }

  const countHeld = () => [...thread.takingIn].length

  function takeIn(orphan: JournalFolder): void {
    thread
      .takeIn(orphan)
      .then(() => {
        putAway(orphan)
        options.onTakenIn(orphan.id)
        if (countHeld() === 0) adoptMore((id) => !keptSinceMs.has(id))
      })
      .catch((error) => {
        // It stays where it is, for the next look.
        orphan.release()
        options.onError(error)
      })
  }

  const ownBacklog = () => backlogOf(own.folder, progress.position, writer.segment)

  function adoptMore(isWanted: (id: string) => boolean): void {
    if (stopping) return
    try {
      const countMax = ADOPTED_MAX - countHeld()
      for (const orphan of adoptJournals(root, { countMax, isWanted })) takeIn(orphan)
    } catch (error) {
      // Too many open files, for one: the next look may do better.
      options.onError(error)
    }
  }

  for (const orphan of orphans) takeIn(orphan)
  const adoption = setInterval(() => adoptMore(() => true), ADOPT_INTERVAL_MS)
  adoption.unref()

  return {
    record: (click: Click, done: () => void) => writer.record(click, done),
    lost: () => writer.lost,
    doubtful: () => writer.doubtful,
    journalId: own.id,
    recorded: () => writer.recorded,
    progress,
    held: () => [
      { id: own.id, ...ownBacklog() },
      ...Array.from(thread.takingIn, ({ journal: { id, folder }, position }) => {
        return { id, ...backlogOf(folder, position, Number.POSITIVE_INFINITY) }
      }),
    ],
    startDraining: () => thread.start(),
    async stop() {
      stopping = true
      clearInterval(adoption)
      const closed = writer.close()
      const deadline = AbortSignal.timeout(STOP_DEADLINE_MS)
      const expired = new Promise<void>((resolve) => {
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
      await Promise.race([closed, expired])
      await thread.stop(expired)
      const left = ownBacklog()
      if (left.bytes > 0) own.release()
      else putAway(own)
      return left
    },
  }
}
