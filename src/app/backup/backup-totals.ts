import type { DatabaseSync } from 'node:sqlite'
import type { BackupContent, BackupTotals } from '../../backup/index.ts'
import { isJournalId, journalsRoot, listJournals } from '../../clicks/journal/journal-folder.ts'
import { countClicksAfter } from '../../clicks/journal/journal-reader.ts'
import type { JournalPosition } from '../../clicks/store/click-store.ts'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../clicks/store/sqlite/raw-click-files.ts'
import { formatDay } from '../../clicks/tally/click-day.ts'
import { openToRead } from '../../storage/sqlite/connection.ts'
import { countedFile, sqliteFile } from '../../storage/sqlite/data-files.ts'
import { hasTable, readClicksMark, readGivenNumbers } from '../../storage/sqlite/file-marks.ts'
import { readCounted, readDay } from '../database/sqlite/examine-files.ts'

const TIMEOUT_MS = 2_500

type FullTotals = NonNullable<BackupTotals['database']>
/** The totals of terse.db and clicks.db. */
export type DatabaseTotals = Omit<FullTotals, 'rowsByDay'>

/** Reads the totals of terse.db and clicks.db. */
export function databaseTotals(links: DatabaseSync, clicks: DatabaseSync): DatabaseTotals {
  const mark = readClicksMark(clicks)
  return {
    schemaVersion: numberOf(links, 'schema_migrations', 'max(version)'),
    workspaces: numberOf(links, 'workspaces', 'count(*)'),
    links: numberOf(links, 'link_buckets', 'sum(links)'),
    lastLink: readGivenNumbers(links).links,
    clicks: mark?.clicks ?? 0,
    batches: mark?.batches ?? 0,
  }
}

/** Reads the totals of a restored data folder that no process has opened since. */
export function totalsOfFolder(dataDir: string, engine: BackupContent['engine']): BackupTotals {
  const positions = new Map<string, JournalPosition>()
  const database = engine === 'sqlite' ? totalsOfFiles(dataDir, positions) : null
  const pending: Record<string, number> = {}
  for (const id of listJournals(journalsRoot(dataDir)).filter(isJournalId)) {
    pending[id] = countClicksAfter(dataDir, id, positions.get(id))
  }
  return { database, pending }
}

function totalsOfFiles(dataDir: string, positions: Map<string, JournalPosition>): FullTotals {
  const links = openToRead(sqliteFile(dataDir), TIMEOUT_MS)
  const clicks = openToRead(countedFile(dataDir), TIMEOUT_MS)
  try {
    for (const [id, position] of readCounted(clicks).positions) positions.set(id, position)
    return { ...databaseTotals(links, clicks), rowsByDay: rowsByDay(dataDir) }
  } finally {
    clicks.close()
    links.close()
  }
}

function rowsByDay(dataDir: string): Record<string, number> {
  const folder = rawClicksFolder(dataDir)
  const rows: Record<string, number> = {}
  for (const day of listRawDays(folder)) {
    const database = openToRead(rawClicksFile(folder, day), TIMEOUT_MS)
    try {
      rows[formatDay(day)] = readDay(database, day).rows
    } finally {
      database.close()
    }
  }
  return rows
}

function numberOf(database: DatabaseSync, table: string, expression: string): number {
  if (!hasTable(database, 'main', table)) return 0
  const row = database.prepare(`select coalesce(${expression}, 0) as value from ${table}`).get()
  return Number(row?.value)
}
