import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

/**
 * Opens a database file read-only without creating files beside it. Without a write-ahead log the
 * file is complete, and it is opened as immutable.
 */
export function openToRead(file: string, timeoutMs: number): DatabaseSync {
  const location = pathToFileURL(file)
  if (!hasLog(file)) location.searchParams.set('immutable', '1')
  return new DatabaseSync(location, { readOnly: true, timeout: timeoutMs })
}

/** Whether the file has a write-ahead log, which may hold newer data. */
export function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`)
}
