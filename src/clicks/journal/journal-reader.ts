import { closeSync, copyFileSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { ClickColumns } from '../click-columns.ts'
import type { JournalPosition } from '../store/click-store.ts'
import {
  damagedJournalsFolder,
  journalsRoot,
  listJournals,
  listSegments,
  segmentFile,
} from './journal-folder.ts'
import { type DecodedBytes, decodeFrames, FRAME_BYTES_MAX } from './record.ts'

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
 * @param clicks is cleared, and has the clicks afterwards
 * @param end reads nothing after this position; everything before it is complete
 */
export function readBatch(
  folder: string,
  from: JournalPosition | undefined,
  activeSegment: number,
  clicksMax: number,
  clicks = new ClickColumns(),
  end?: JournalPosition,
): JournalBatch | undefined {
  for (const { segment, offset } of segmentsFrom(folder, from)) {
    clicks.clear()
    if (end !== undefined && segment > end.segment) return undefined
    const isLast = segment === end?.segment
    const bytesMax = isLast ? end.offset : Number.POSITIVE_INFINITY
    const range = { offset, complete: isLast || segment < activeSegment, clicksMax, bytesMax }
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

type SegmentRange = { offset: number; complete: boolean; clicksMax: number; bytesMax: number }

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
  { offset, complete, clicksMax, bytesMax }: SegmentRange,
  into: ClickColumns,
): DecodedBytes {
  const remaining = Math.max(0, Math.min(fstatSync(fd).size, bytesMax) - offset)
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

/** Treats no segment as complete, so that torn ends are not skipped. */
const NO_COMPLETE_SEGMENT = 0
const CLICKS_PER_BATCH = 20_000

/** Counts the readable clicks of a journal after a position. */
export function countClicksAfter(
  dataDir: string,
  id: string,
  from: JournalPosition | undefined,
): number {
  let count = 0
  for (const { clicks } of batchesAfter(path.join(journalsRoot(dataDir), id), from)) {
    count += clicks.length
  }
  return count
}

/** Returns the position after the last readable click of a journal; `from` when there is none after it. */
export function endOfClicks(
  dataDir: string,
  id: string,
  from: JournalPosition | undefined,
): JournalPosition | undefined {
  let position = from
  for (const { next } of batchesAfter(path.join(journalsRoot(dataDir), id), from)) position = next
  return position
}

/**
 * Returns the position after `count` clicks from a position on. Undefined if the journal has fewer clicks, or
 * if the position would lie inside a frame.
 */
export function positionAfterClicks(
  dataDir: string,
  id: string,
  from: JournalPosition,
  count: number,
): JournalPosition | undefined {
  const folder = path.join(journalsRoot(dataDir), id)
  let position = from
  for (let left = count; left > 0; ) {
    // Reading stops at the end of the frame with the last click.
    const batch = readPending(folder, position, NO_COMPLETE_SEGMENT, left)
    if (batch === undefined || batch.clicks.length > left) return undefined
    left -= batch.clicks.length
    position = batch.next
  }
  return position
}

/**
 * Returns the highest link number among the clicks of a data folder that are not ingested yet; 0 if there are
 * none. Reads all of these clicks, which takes about 100 ms for 100,000 clicks.
 *
 * @param findPosition returns the position up to which a journal is ingested
 */
export async function highestPendingLink(
  dataDir: string,
  findPosition: (journalId: string) => Promise<JournalPosition | undefined>,
): Promise<number> {
  const root = journalsRoot(dataDir)
  let highest = 0
  for (const id of listJournals(root)) {
    for (const { clicks } of batchesAfter(path.join(root, id), await findPosition(id))) {
      for (const link_seq of clicks.link_seq.subarray(0, clicks.length)) {
        if (link_seq > highest) highest = link_seq
      }
    }
  }
  return highest
}

function* batchesAfter(folder: string, from: JournalPosition | undefined): Generator<JournalBatch> {
  let position = from
  for (;;) {
    const batch = readPending(folder, position, NO_COMPLETE_SEGMENT, CLICKS_PER_BATCH)
    if (batch === undefined) return
    yield batch
    position = batch.next
  }
}

/** The clicks of a journal that are not in the database yet. */
export type JournalBacklog = {
  readonly bytes: number
  /** The instant of the oldest click, in microseconds; undefined when there is none. */
  readonly oldestMicros: number | undefined
}

/** @param activeSegment see `readPending` */
function backlogOf(
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
