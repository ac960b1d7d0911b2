import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Place } from './engines.ts'

/** Runs statements past the program, on SQLite in the file of links. */
export async function execute(place: Place, ...statements: string[]): Promise<void> {
  if (place.databaseUrl === undefined) {
    const database = new DatabaseSync(path.join(place.dataDir, 'terse.db'))
    for (const statement of statements) database.exec(statement)
    database.close()
    return
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
