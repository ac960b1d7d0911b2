import { DatabaseSync } from 'node:sqlite'
import { countedFile } from '../../src/storage/sqlite/data-files.ts'

/**
 * Sums the people's clicks of all links directly in the database, so that counting costs the
 * service nothing.
 */
export function countClicks(dataDir: string): number {
  const database = new DatabaseSync(countedFile(dataDir), { readOnly: true, timeout: 10_000 })
  try {
    return Number(
      database.prepare('select coalesce(sum(clicks), 0) as clicks from link_clicks').get()?.clicks,
    )
  } finally {
    database.close()
  }
}
