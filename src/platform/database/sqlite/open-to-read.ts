import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

/**
 * Opens a database file to read it, and leaves no file beside it that was not there: without a log the
 * file is complete, and SQLite is told that nobody writes to it.
 */
export function openToRead(file: string, timeoutMs: number): DatabaseSync {
  const location = pathToFileURL(file)
  if (!hasLog(file)) location.searchParams.set('immutable', '1')
  return new DatabaseSync(location, { readOnly: true, timeout: timeoutMs })
}

/** Whether a write-ahead log lies beside the file, and may hold what the file does not. */
export function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`)
}
