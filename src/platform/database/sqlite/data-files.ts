import { statSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { CLICKS_FILE, LINKS_FILE } from '../file-fault.ts'

/** The database file of a data folder: everything but clicks. */
export function sqliteFile(dataDir: string): string {
  return path.join(dataDir, LINKS_FILE)
}

/**
 * The file of everything that is counted. It is another one than that of the links so that the two
 * are written side by side: SQLite has one lock for a file.
 */
export function countedFile(dataDir: string): string {
  return path.join(dataDir, CLICKS_FILE)
}

/**
 * Whether a folder holds a database, or what is left of one.
 *
 * @throws where this process may not look into the folder
 */
export function hasDataFiles(dataDir: string): boolean {
  return [sqliteFile(dataDir), countedFile(dataDir)].some(
    (file) => statSync(file, { throwIfNoEntry: false }) !== undefined,
  )
}

/**
 * Adds another file's tables to a connection, to read alone: a transaction that writes takes the lock
 * of no file but its own.
 *
 * @param options.immutable for a file to which nobody writes, not even a log
 */
export function attachForReading(
  database: DatabaseSync,
  options: { file: string; name: string; immutable?: boolean },
): void {
  const location = pathToFileURL(options.file)
  location.searchParams.set('mode', 'ro')
  if (options.immutable) location.searchParams.set('immutable', '1')
  database.prepare(`attach ? as ${options.name}`).run(location.href)
}
