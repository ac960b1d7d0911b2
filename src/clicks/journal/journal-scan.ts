import path from 'node:path'
import { isCode } from '../../platform/process/is-code.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { journalsRoot, listJournals } from './journal-folder.ts'
import { type JournalBatch, readBatch } from './journal-reader.ts'

/** No segment is taken to be complete, so that a torn end is left alone. */
const COMPLETE_BEFORE = 0
const CLICKS_AT_A_TIME = 20_000

/** How many clicks a journal of a data folder holds after a position, as far as they can be read. */
export function countClicksAfter(dataDir: string, id: string, from: JournalPosition): number {
  let count = 0
  for (const { clicks } of batchesAfter(path.join(journalsRoot(dataDir), id), from)) {
    count += clicks.length
  }
  return count
}

/**
 * The position in a journal after so many of its clicks, where a batch of that size has ended;
 * undefined where the journal does not have them.
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
    // Reading stops at the end of the frame that has the last of them.
    const batch = readOn(folder, position, left)
    if (batch === undefined || batch.clicks.length > left) return undefined
    left -= batch.clicks.length
    position = batch.next
  }
  return position
}

/**
 * The highest number of a link in the clicks that have not been taken in from the journals of a data
 * folder; 0 where there are none. Reads all of them: some 100 ms for 100,000 clicks.
 *
 * @param findPosition how far a journal has been taken in
 */
export async function highestWaitingLink(
  dataDir: string,
  findPosition: (journalId: string) => Promise<JournalPosition | undefined>,
): Promise<number> {
  const root = journalsRoot(dataDir)
  let highest = 0
  for (const id of listJournals(root)) {
    for (const { clicks } of batchesAfter(path.join(root, id), await findPosition(id))) {
      for (const { link_seq } of clicks) if (link_seq > highest) highest = link_seq
    }
  }
  return highest
}

function* batchesAfter(folder: string, from: JournalPosition | undefined): Generator<JournalBatch> {
  let position = from
  for (;;) {
    const batch = readOn(folder, position, CLICKS_AT_A_TIME)
    if (batch === undefined) return
    yield batch
    position = batch.next
  }
}

/** Undefined at the end, and where another process has taken the segment in and removed it. */
function readOn(folder: string, from: JournalPosition | undefined, clicksMax: number) {
  try {
    return readBatch(folder, from, COMPLETE_BEFORE, clicksMax)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}
