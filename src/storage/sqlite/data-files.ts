import { statSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { CLICKS_FILE, LINKS_FILE } from '../file-fault.ts'

/** Returns the path of terse.db, which holds everything but clicks. */
export function sqliteFile(dataDir: string): string {
  return path.join(dataDir, LINKS_FILE)
}

/**
 * Returns the path of clicks.db, which holds counted clicks. It is separate from terse.db so that
 * both can be written at the same time: SQLite has one write lock per file.
 */
export function countedFile(dataDir: string): string {
  return path.join(dataDir, CLICKS_FILE)
}

/**
 * Whether a folder holds at least one of the two database files.
 *
 * @throws when this process has no permission to read the folder
 */
export function hasDataFiles(dataDir: string): boolean {
  return [sqliteFile(dataDir), countedFile(dataDir)].some(
    (file) => statSync(file, { throwIfNoEntry: false }) !== undefined,
  )
}

/**
 * Attaches another database file read-only, so that a writing transaction locks only its own file.
 *
 * @param options.immutable for a file that no process writes to and that has no write-ahead log
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
