import { DatabaseSync } from 'node:sqlite'
import { sqliteFile } from '../../src/storage/sqlite/open.ts'

/** All links' clicks by people, past the service, so that counting costs the service nothing. */
export function countClicks(dataDir: string): number {
  const database = new DatabaseSync(sqliteFile(dataDir), { readOnly: true, timeout: 10_000 })
  try {
    return Number(database.prepare('select sum(clicks) as clicks from links').get()?.clicks)
  } finally {
    database.close()
  }
}
