import path from 'node:path'
import type { JournalPosition } from '../store/click-store.ts'
import { journalsRoot, listJournals } from './journal-folder.ts'
import { backlogBytes, readPending } from './journal-reader.ts'

/** The clicks of a journal that are not in the database yet. */
export type JournalBacklog = {
  readonly bytes: number
  /** The instant of the oldest click, in microseconds; undefined when there is none. */
  readonly oldestMicros: number | undefined
}

/** @param activeSegment see `readPending` */
export function backlogOf(
  folder: string,
  position: JournalPosition | undefined,
  activeSegment: number,
): JournalBacklog {
  const bytes = backlogBytes(folder, position)
  const first = bytes === 0 ? undefined : readPending(folder, position, activeSegment, 1)
  return { bytes, oldestMicros: first?.clicks.at[0] }
}

/**
 * Reads backlogs repeatedly. The oldest click is read again only when the position has moved, so that a large backlog
 * from which nothing is taken costs a few system calls.
 */
export class BacklogReader {
  readonly #oldest = new Map<string, { readonly position: string; readonly micros: number }>()

  /** As `backlogOf`. */
  read(...[folder, position, activeSegment]: Parameters<typeof backlogOf>): JournalBacklog {
    const known = this.#oldest.get(folder)
    const at = `${position?.segment} ${position?.offset}`
    if (known?.position === at) {
      const bytes = backlogBytes(folder, position)
      return { bytes, oldestMicros: bytes === 0 ? undefined : known.micros }
    }
    const backlog = backlogOf(folder, position, activeSegment)
    const { oldestMicros: micros } = backlog
    if (micros === undefined) this.#oldest.delete(folder)
    else this.#oldest.set(folder, { position: at, micros })
    return backlog
  }

  /** Forgets a journal that is read no more. */
  forget(folder: string): void {
    this.#oldest.delete(folder)
  }
}

/** Adds up the backlogs of several journals. */
export function sumOfBacklogs(backlogs: readonly JournalBacklog[]): JournalBacklog {
  const oldest = backlogs.flatMap(({ oldestMicros }) => oldestMicros ?? [])
  return {
    bytes: backlogs.reduce((sum, { bytes }) => sum + bytes, 0),
    oldestMicros: oldest.length === 0 ? undefined : Math.min(...oldest),
  }
}

/** Returns the bytes in all journals of a data folder that are not in the database yet. */
export function totalBacklogBytes(
  dataDir: string,
  positions: ReadonlyMap<string, JournalPosition>,
): number {
  const root = journalsRoot(dataDir)
  let bytes = 0
  for (const id of listJournals(root)) bytes += backlogBytes(path.join(root, id), positions.get(id))
  return bytes
}
