import path from 'node:path'
import type { JournalPosition } from '../../domain/clicks/click-store.ts'
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
  const first = bytes === 0 ? undefined : readBatch(folder, position, writing, 1)
  return { bytes, oldestMicros: first?.clicks[0]?.at }
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
