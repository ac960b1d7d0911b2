import path from 'node:path'
import { isCode } from '../../platform/process/is-code.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { journalsRoot, listJournals } from './journal-folder.ts'
import { backlogBytes, readBatch } from './journal-reader.ts'

/** What of one journal is not in the database yet. */
export type JournalBacklog = {
  readonly bytes: number
  /** The instant of its first click, in microseconds; undefined where there is none. */
  readonly oldestMicros: number | undefined
}

/** @param writing as in `readBatch` */
export function backlogOf(
  folder: string,
  position: JournalPosition | undefined,
  writing: number,
): JournalBacklog {
  const bytes = backlogBytes(folder, position)
  return { bytes, oldestMicros: bytes === 0 ? undefined : oldestAfter(folder, position, writing) }
}

function oldestAfter(
  folder: string,
  position: JournalPosition | undefined,
  writing: number,
): number | undefined {
  try {
    return readBatch(folder, position, writing, 1)?.clicks[0]?.at
  } catch (error) {
    // Another thread has taken the segment in and removed it meanwhile.
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Of several journals together. */
export function sumOfBacklogs(backlogs: readonly JournalBacklog[]): JournalBacklog {
  const oldest = backlogs.flatMap(({ oldestMicros }) => oldestMicros ?? [])
  return {
    bytes: backlogs.reduce((sum, { bytes }) => sum + bytes, 0),
    oldestMicros: oldest.length === 0 ? undefined : Math.min(...oldest),
  }
}

/** Bytes of clicks in all journals of a data folder that are not in the database yet. */
export function totalBacklogBytes(
  dataDir: string,
  positions: ReadonlyMap<string, JournalPosition>,
): number {
  const root = journalsRoot(dataDir)
  let bytes = 0
  for (const id of listJournals(root)) bytes += backlogBytes(path.join(root, id), positions.get(id))
  return bytes
}
