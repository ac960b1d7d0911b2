import { closeSync, copyFileSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from '../../platform/disk/create-folder.ts'
import type { Click } from '../click.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { decodeFrames, FRAME_BYTES_MAX } from './frame.ts'
import { damagedJournalsFolder } from './journal-folder.ts'
import { listSegments, segmentFile } from './segments.ts'

/** Read at a time: room for the longest frame, and for many of the usual ones. */
const CHUNK_BYTES = 2 * 1024 * 1024

export type JournalBatch = {
  readonly clicks: readonly Click[]
  /** Where to read on once the clicks have been taken in. */
  readonly next: JournalPosition
  /** Bytes on the way that belong to no valid frame. */
  readonly damaged: number
}

/**
 * The next clicks of a journal, in the order in which they were written. Undefined when all have been
 * read. For the same place and `clicksMax`, a later call returns the same clicks first, and no fewer.
 *
 * @param from the place to read on from; the beginning when undefined
 * @param writing the segment to which its owner still appends; the earlier ones are complete
 * @param clicksMax after which to stop, at a frame's end
 */
export function readBatch(
  folder: string,
  from: JournalPosition | undefined,
  writing: number,
  clicksMax: number,
): JournalBatch | undefined {
  for (const segment of listSegments(folder)) {
    if (from !== undefined && segment < from.segment) continue
    const offset = from?.segment === segment ? from.offset : 0
    const batch = readSegment(segmentFile(folder, segment), {
      offset,
      complete: segment < writing,
      clicksMax,
    })
    if (batch === undefined) continue
    const next = { segment, offset: offset + batch.consumed }
    return { clicks: batch.clicks, next, damaged: batch.damaged }
  }
  return undefined
}

/** Removes the segments that are complete and wholly taken in. */
export function removeRead(folder: string, position: JournalPosition, writing: number): void {
  for (const segment of listSegments(folder)) {
    if (segment >= writing || segment > position.segment) return
    const file = segmentFile(folder, segment)
    if (segment === position.segment && bytesAfter(file, position.offset) > 0) return
    rmSync(file, { force: true })
  }
}

/** Copies a segment with damage in it to where it stays, for a person to look at. */
export function setAside(journal: { id: string; folder: string }, segment: number): string {
  const kept = damagedJournalsFolder(path.join(journal.folder, '..', '..'))
  createFolder(kept)
  const copy = path.join(kept, `${journal.id}-${segment}.journal`)
  copyFileSync(segmentFile(journal.folder, segment), copy)
  return copy
}

/** Bytes of a journal that have not been taken in. */
export function backlogBytes(folder: string, position: JournalPosition | undefined): number {
  let bytes = 0
  for (const segment of listSegments(folder)) {
    if (position !== undefined && segment < position.segment) continue
    const offset = position?.segment === segment ? position.offset : 0
    bytes += bytesAfter(segmentFile(folder, segment), offset)
  }
  return bytes
}

type SegmentBatch = { clicks: Click[]; consumed: number; damaged: number }

function readSegment(
  file: string,
  { offset, complete, clicksMax }: { offset: number; complete: boolean; clicksMax: number },
): SegmentBatch | undefined {
  const fd = openSync(file, 'r')
  try {
    const remaining = fstatSync(fd).size - offset
    if (remaining <= 0) return undefined
    const chunk = Buffer.allocUnsafe(Math.min(remaining, CHUNK_BYTES))
    const length = readSync(fd, chunk, 0, chunk.length, offset)
    const decoded = decodeFrames(chunk.subarray(0, length), clicksMax)
    if (decoded.consumed > 0) return decoded
    // No whole frame in what may be the longest: either it is not written yet, or it is damage.
    if (!complete && length < CHUNK_BYTES) return undefined
    // At the end of a full chunk a whole frame may begin.
    const passed = length < remaining ? length - FRAME_BYTES_MAX : length
    return { clicks: [], consumed: passed, damaged: passed }
  } finally {
    closeSync(fd)
  }
}

/** 0 for a segment that its owner has just removed. */
function bytesAfter(file: string, offset: number): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return Math.max(0, size - offset)
}
