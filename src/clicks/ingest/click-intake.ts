import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Click, ClickRecorder } from '../click.ts'
import { backlogOf, type JournalBacklog } from '../journal/journal-backlog.ts'
import type { JournalFiles } from '../journal/journal-files.ts'
import {
  adoptJournals,
  createJournal,
  type JournalFolder,
  journalsRoot,
  removeLeftovers,
} from '../journal/journal-folder.ts'
import { type ClickDurability, JournalWriter } from '../journal/journal-writer.ts'
import { listSegments } from '../journal/segments.ts'
import type { JournalPlace } from './drain-messages.ts'
import { DrainProgress } from './drain-progress.ts'
import { DrainThread } from './drain-thread.ts'

/** How often to look for journals of processes that were killed. */
const ADOPT_INTERVAL_MS = 30_000
/** Taken over at a time: after days of crashes there may be thousands, and each takes an open file. */
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
  /** Has clicks wait in the journal, or ends that. */
  pauseDraining(isPaused: boolean): void
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
  /**
   * Ends within 10 s; what the store did not take stays in the own journal, and is told.
   *
   * @param options.discard whether to remove the own journal: of a process that never answered a visitor
   */
  stop(options?: { discard?: boolean }): Promise<JournalBacklog>
}

export type IntakeReports = {
  readonly onLost: (count: number, error: unknown) => void
  readonly onDoubt: (count: number, error: unknown) => void
  readonly onDamage: (bytes: number, copy: string | undefined) => void
  readonly onError: (error: unknown) => void
  /** Told of the journal of another process once nothing of it is left; waited for before it is removed. */
  readonly onTakenIn: (journalId: string) => Promise<void> | undefined
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
    /** As of a `JournalWriter`. */
    makeRoom?: (error: unknown) => boolean
  } & IntakeReports,
): ClickIntake {
  const root = journalsRoot(options.dataDir)
  removeLeftovers(root)
  const id = randomUUID()
  const folder = path.join(root, id)
  let own: JournalFolder | undefined
  const { keepMs = 0 } = options
  const progress = new DrainProgress()
  /** When journals of others were taken in first that are kept for a while. */
  const keptSinceMs = new Map<string, number>()
  let stopping = false

  const writer = new JournalWriter({
    folder,
    durability: options.durability,
    ...(options.files && { files: options.files }),
    begin,
    makeRoom: options.makeRoom,
    onWritten: () => thread.wake(),
    onLost: options.onLost,
    onDoubt: options.onDoubt,
  })
  const thread = new DrainThread({
    startWorker: () => options.startWorker({ id, folder }, progress.buffer),
    writing: () => writer.segment,
    onError: options.onError,
    onDamage: options.onDamage,
  })

  function begin(): void {
    own ??= createJournal(root, id)
  }

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

  function takeIn(orphan: JournalFolder): void {
    thread
      .takeIn(orphan)
      .then(async () => {
        // Before the journal, by which whoever comes next would know that there was such a process.
        await options.onTakenIn(orphan.id)
        putAway(orphan)
        if (thread.takingIn.length === 0) adopt()
      })
      .catch((error) => {
        // It stays where it is, for the next look.
        orphan.release()
        options.onError(error)
      })
  }

  /** Takes over what waits, but not what is only kept for a while yet. */
  function adopt(): void {
    if (stopping) return
    const nowMs = performance.now()
    const isWanted = (other: string) =>
      nowMs - (keptSinceMs.get(other) ?? Number.NEGATIVE_INFINITY) >= keepMs
    const countMax = ADOPTED_MAX - thread.takingIn.length
    try {
      for (const orphan of adoptJournals(root, { countMax, isWanted })) takeIn(orphan)
    } catch (error) {
      // Too many open files, for one: the next look may do better.
      options.onError(error)
    }
  }

  const ownBacklog = () => backlogOf(folder, progress.position, writer.segment)

  adopt()
  try {
    begin()
  } catch (error) {
    // A full disk keeps nobody from being redirected: it is tried again with each click.
    options.onLost(0, error)
  }
  const adoption = setInterval(adopt, ADOPT_INTERVAL_MS)
  adoption.unref()

  return {
    record: (click: Click, done: () => void) => writer.record(click, done),
    lost: () => writer.lost,
    doubtful: () => writer.doubtful,
    journalId: id,
    recorded: () => writer.recorded,
    progress,
    held: () => [
      { id, ...ownBacklog() },
      ...thread.takingIn.map(({ journal, position }) => ({
        id: journal.id,
        ...backlogOf(journal.folder, position, Number.POSITIVE_INFINITY),
      })),
    ],
    startDraining: () => thread.start(),
    pauseDraining: (isPaused) => progress.pause(isPaused),
    async stop({ discard = false } = {}) {
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
      if (discard) own?.remove()
      // The next start puts it away.
      else own?.release()
      return left
    },
  }
}
