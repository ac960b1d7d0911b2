import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Place } from './engines.ts'

/** Keeps clicks from being counted. The returned function ends it. */
export async function lockCounters({ databaseUrl, dataDir }: Place): Promise<() => Promise<void>> {
  if (databaseUrl === undefined) {
    const file = new DatabaseSync(path.join(dataDir, 'clicks.db'), { timeout: 5_000 })
    file.exec('begin immediate')
    return async () => file.close()
  }
  const client = new pg.Client(databaseUrl)
  await client.connect()
  await client.query('begin')
  await client.query('lock table journal_positions in exclusive mode')
  return () => client.end()
}
