import { closeSync, copyFileSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from '../../platform/disk/create-folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { ClickColumns } from '../click-columns.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { type DecodedBytes, decodeFrames, FRAME_BYTES_MAX } from './frame.ts'
import { damagedJournalsFolder } from './journal-folder.ts'
import { listSegments, segmentFile } from './segments.ts'

/** Bytes per read: room for the longest frame and for many average ones. */
const CHUNK_BYTES = 2 * 1024 * 1024

/** A usual click, with its share of a frame. */
export const CLICK_BYTES = 60

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
  for (const { segment, offset } of segmentsFrom(folder, from)) {
    const clicks = new ClickColumns()
    const range = { offset, complete: segment < activeSegment, clicksMax }
    const { consumed, damaged } = readSegment(segmentFile(folder, segment), range, clicks)
    if (consumed === 0) continue
    return { clicks, next: { segment, offset: offset + consumed }, damaged }
  }
  return undefined
}

/** Like `readBatch`, for readers other than the drainer. Undefined also if the drainer has just removed the segment. */
export function readPending(...args: Parameters<typeof readBatch>): JournalBatch | undefined {
  try {
    return readBatch(...args)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
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

/** Returns how many clicks the bytes of a journal are about; at least one unless there are no bytes. */
export function clicksIn(bytes: number, bytesPerClick: number = CLICK_BYTES): number {
  return Math.ceil(bytes / bytesPerClick)
}

/** Returns how many segments are missing after one that was read, and before another. */
export function missingBetween(folder: string, after: number, before: number): number {
  if (before - after <= 1) return 0
  const found = listSegments(folder).filter((segment) => segment > after && segment < before)
  return before - after - 1 - found.length
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
  for (const { segment, offset } of segmentsFrom(folder, position)) {
    bytes += bytesAfter(segmentFile(folder, segment), offset)
  }
  return bytes
}

/** Returns the segments that may have something after a position, and where that begins. */
function segmentsFrom(
  folder: string,
  position: JournalPosition | undefined,
): readonly JournalPosition[] {
  return listSegments(folder)
    .filter((segment) => position === undefined || segment >= position.segment)
    .map((segment) => (segment === position?.segment ? position : { segment, offset: 0 }))
}

type SegmentRange = { offset: number; complete: boolean; clicksMax: number }

/** Reads to the end of a segment, or to the frame that reaches `clicksMax`, wherever it begins. */
function readSegment(file: string, range: SegmentRange, into: ClickColumns): DecodedBytes {
  let { offset } = range
  let damaged = 0
  const fd = openSync(file, 'r')
  try {
    while (into.length < range.clicksMax) {
      const chunk = readChunk(fd, { ...range, offset }, into)
      if (chunk.consumed === 0) break
      offset += chunk.consumed
      damaged += chunk.damaged
    }
  } finally {
    closeSync(fd)
  }
  return { consumed: offset - range.offset, damaged }
}

/** Consumes nothing at the end. */
function readChunk(
  fd: number,
  { offset, complete, clicksMax }: SegmentRange,
  into: ClickColumns,
): DecodedBytes {
  const remaining = Math.max(0, fstatSync(fd).size - offset)
  const chunk = Buffer.allocUnsafe(Math.min(remaining, CHUNK_BYTES))
  const length = readSync(fd, chunk, 0, chunk.length, offset)
  const decoded = decodeFrames(chunk.subarray(0, length), clicksMax, into)
  // No complete frame found: either the frame is still being written, or the bytes are damaged.
  if (decoded.consumed > 0 || (!complete && length < CHUNK_BYTES)) return decoded
  // A valid frame may begin near the end of a full chunk, so keep the length of the longest frame.
  const skipped = length < remaining ? length - FRAME_BYTES_MAX : length
  return { consumed: skipped, damaged: skipped }
}

/** 0 if the owner has just removed the segment. */
function bytesAfter(file: string, offset: number): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return Math.max(0, size - offset)
}
