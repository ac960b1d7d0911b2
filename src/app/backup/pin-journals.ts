import { closeSync, fstatSync, openSync, rmSync, truncateSync } from 'node:fs'
import path from 'node:path'
import {
  isJournalId,
  journalsRoot,
  listJournals,
  listSegments,
  segmentFile,
  writeFence,
} from '../../clicks/journal/journal-folder.ts'
import { countClicksAfter, endOfClicks } from '../../clicks/journal/journal-reader.ts'
import type { JournalPosition } from '../../clicks/store/click-store.ts'
import { copyBytes } from '../../platform/disk/file.ts'
import { createFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'

type PinnedSegment = {
  readonly segment: number
  /** Stays readable when the service removes the segment. */
  readonly fd: number
  readonly size: number
}
type PinnedJournal = {
  readonly id: string
  /** Up to where the journal is counted; undefined when that is unknown. */
  readonly from: JournalPosition | undefined
  readonly segments: readonly PinnedSegment[]
}

/** The journals of a data folder up to the lengths that they had at one instant. */
export class PinnedJournals {
  readonly #journals: readonly PinnedJournal[]

  /** @param positions up to where journals are counted: what is before is not needed */
  constructor(dataDir: string, positions: ReadonlyMap<string, JournalPosition>) {
    const root = journalsRoot(dataDir)
    const journals: PinnedJournal[] = []
    this.#journals = journals
    try {
      for (const id of listJournals(root).filter(isJournalId)) {
        const segments: PinnedSegment[] = []
        const from = positions.get(id)
        journals.push({ id, from, segments })
        for (const segment of listSegments(path.join(root, id))) {
          if (segment < (from?.segment ?? 0)) continue
          const fd = openIfExists(segmentFile(path.join(root, id), segment))
          if (fd === undefined) continue
          segments.push({ segment, fd, size: fstatSync(fd).size })
        }
      }
    } catch (error) {
      this.release()
      throw error
    }
  }

  /**
   * Copies the journals that have clicks to another data folder, without a frame at the end that was being
   * written.
   *
   * @returns the clicks that are not counted, by journal
   */
  copyTo(dataDir: string): ReadonlyMap<string, number> {
    const pending = new Map<string, number>()
    for (const { id, from, segments } of this.#journals) {
      if (segments.length === 0) continue
      const folder = path.join(journalsRoot(dataDir), id)
      createFolder(folder)
      for (const { segment, fd, size } of segments)
        copyBytes(fd, size, segmentFile(folder, segment))
      cutTornEnd(folder, endOfClicks(dataDir, id, from), segments.at(-1))
      const count = countClicksAfter(dataDir, id, from)
      if (count === 0) {
        rmSync(folder, { recursive: true })
        continue
      }
      writeFence(folder)
      pending.set(id, count)
    }
    return pending
  }

  release(): void {
    for (const { segments } of this.#journals) for (const { fd } of segments) closeSync(fd)
  }
}

/** Cuts off bytes at the end of a journal that are no click yet: its visitor was not answered. */
function cutTornEnd(
  folder: string,
  end: JournalPosition | undefined,
  last: PinnedSegment | undefined,
): void {
  if (last === undefined) return
  const endOffset = end?.segment === last.segment ? end.offset : 0
  if (endOffset < last.size) truncateSync(segmentFile(folder, last.segment), endOffset)
}

/** Undefined for a segment that was counted and removed in the meantime. */
function openIfExists(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}
