import { closeSync, copyFileSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from '../../platform/disk/create-folder.ts'
import { ClickColumns } from '../click-columns.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { type DecodedFrames, decodeFrames, FRAME_BYTES_MAX } from './frame.ts'
import { damagedJournalsFolder } from './journal-folder.ts'
import { listSegments, segmentFile } from './segments.ts'

/** Bytes per read: room for the longest frame and for many average ones. */
const CHUNK_BYTES = 2 * 1024 * 1024

export type JournalBatch = {
  readonly clicks: ClickColumns
  /** Where to continue after these clicks are ingested. */
  readonly next: JournalPosition
  /** Skipped bytes that belong to no valid frame. */
  readonly damaged: number
}

/**
 * Reads the next clicks of a journal in the order in which they were written. Undefined at the end. A later
 * call with the same position and `clicksMax` returns at least the same clicks, in the same order.
 *
 * @param from the position to read from; undefined for the beginning
 * @param activeSegment the segment that its owner still appends to; earlier segments are complete
 * @param clicksMax stops after the frame that reaches this count
 */
export function readBatch(
  folder: string,
  from: JournalPosition | undefined,
  activeSegment: number,
  clicksMax: number,
): JournalBatch | undefined {
  for (const segment of listSegments(folder)) {
    if (from !== undefined && segment < from.segment) continue
    const offset = from?.segment === segment ? from.offset : 0
    const batch = readSegment(segmentFile(folder, segment), {
      offset,
      complete: segment < activeSegment,
      clicksMax,
    })
    if (batch === undefined) continue
    const next = { segment, offset: offset + batch.consumed }
    return { clicks: batch.clicks, next, damaged: batch.damaged }
  }
  return undefined
}

/** Removes the segments that are complete and ingested to their end. */
export function removeIngestedSegments(
  folder: string,
  position: JournalPosition,
  activeSegment: number,
): void {
  for (const segment of listSegments(folder)) {
    if (segment >= activeSegment || segment > position.segment) return
    const file = segmentFile(folder, segment)
    if (segment === position.segment && bytesAfter(file, position.offset) > 0) return
    rmSync(file, { force: true })
  }
}

/** Copies a damaged segment to a folder where it is kept for inspection. Returns the copy's path. */
export function keepDamagedSegment(
  journal: { id: string; folder: string },
  segment: number,
): string {
  const folder = damagedJournalsFolder(path.join(journal.folder, '..', '..'))
  createFolder(folder)
  const copy = path.join(folder, `${journal.id}-${segment}.journal`)
  copyFileSync(segmentFile(journal.folder, segment), copy)
  return copy
}

/** Returns the bytes of a journal after a position. */
export function backlogBytes(folder: string, position: JournalPosition | undefined): number {
  let bytes = 0
  for (const segment of listSegments(folder)) {
    if (position !== undefined && segment < position.segment) continue
    const offset = position?.segment === segment ? position.offset : 0
    bytes += bytesAfter(segmentFile(folder, segment), offset)
  }
  return bytes
}

type SegmentBatch = { clicks: ClickColumns; consumed: number; damaged: number }

type SegmentRange = { offset: number; complete: boolean; clicksMax: number }

/** Reads to the end of a segment, or to the frame that reaches `clicksMax`, wherever it begins. */
function readSegment(
  file: string,
  { offset, complete, clicksMax }: SegmentRange,
): SegmentBatch | undefined {
  const batch: SegmentBatch = { clicks: new ClickColumns(), consumed: 0, damaged: 0 }
  const fd = openSync(file, 'r')
  try {
    while (batch.clicks.length < clicksMax) {
      const at = offset + batch.consumed
      const read = readChunk(fd, { offset: at, complete, clicksMax }, batch.clicks)
      if (read === undefined) break
      batch.consumed += read.consumed
      batch.damaged += read.damaged
    }
  } finally {
    closeSync(fd)
  }
  return batch.consumed > 0 ? batch : undefined
}

/** Returns undefined at the end. */
function readChunk(
  fd: number,
  { offset, complete, clicksMax }: SegmentRange,
  into: ClickColumns,
): DecodedFrames | undefined {
  const remaining = fstatSync(fd).size - offset
  if (remaining <= 0) return undefined
  const chunk = Buffer.allocUnsafe(Math.min(remaining, CHUNK_BYTES))
  const length = readSync(fd, chunk, 0, chunk.length, offset)
  const decoded = decodeFrames(chunk.subarray(0, length), clicksMax, into)
  if (decoded.consumed > 0) return decoded
  // No complete frame found: either the frame is still being written, or the bytes are damaged.
  if (!complete && length < CHUNK_BYTES) return undefined
  // A valid frame may begin near the end of a full chunk, so keep the length of the longest frame.
  const skipped = length < remaining ? length - FRAME_BYTES_MAX : length
  return { clicks: into, consumed: skipped, damaged: skipped }
}

/** 0 if the owner has just removed the segment. */
function bytesAfter(file: string, offset: number): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return Math.max(0, size - offset)
}
