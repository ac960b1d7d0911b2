import path from 'node:path'
import type { JournalPosition } from '../../domain/clicks/click-store.ts'
import { journalsRoot, listJournals } from './journal-folder.ts'
import { backlogBytes } from './journal-reader.ts'

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
