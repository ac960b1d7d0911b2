import { DatabaseSync } from 'node:sqlite'

/** Before this version a checkpoint could corrupt the file (https://sqlite.org/wal.html#walresetbug). */
const SQLITE_VERSION_MIN = [3, 51, 3]

/**
 * Checks the version with an in-memory database: a version that is too old must not open the file.
 */
export function checkedVersion(): string {
  const database = new DatabaseSync(':memory:')
  const row = database.prepare('select sqlite_version() as version').get()
  database.close()
  const version = String(row?.version)
  const parts = version.split('.').map(Number)
  for (const [index, min] of SQLITE_VERSION_MIN.entries()) {
    const part = parts[index] ?? 0
    if (part > min) break
    if (part < min) {
      throw new Error(
        `SQLite ${version} has a bug that can damage the database; ${SQLITE_VERSION_MIN.join('.')} or newer is required. Use the Node.js that npm ci installs.`,
      )
    }
  }
  return version
}
