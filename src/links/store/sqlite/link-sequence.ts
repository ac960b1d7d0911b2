import { DatabaseSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../../storage/schema.ts'
import { kyselyOver, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import { sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { readGivenNumbers } from '../../../storage/sqlite/file-marks.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import type { LinkSequence } from '../link-numbers.ts'

const BUSY_DEADLINE_MS = 5_000

/** @param db a write transaction on terse.db */
export async function skipLinkNumbers(db: Kysely<Schema>, seq: number): Promise<void> {
  const { numAffectedRows } = await sql`
    update sqlite_sequence set seq = max(seq, ${seq}) where name = 'links'`.execute(db)
  if (numAffectedRows === 0n) {
    await sql`insert into sqlite_sequence (name, seq) values ('links', ${seq})`.execute(db)
  }
}

export async function lastLinkNumber(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select seq from sqlite_sequence where name = 'links'`.execute(db)
  return rows[0]?.seq ?? 0
}

/**
 * For a connection that has terse.db attached read-only.
 *
 * @param database has terse.db attached as `terse`
 */
export function sqliteLinkSequence(database: DatabaseSync, dataDir: string): LinkSequence {
  return {
    last: async () => readGivenNumbers(database, 'terse').links,

    async skipTo(seq) {
      const links = new DatabaseSync(sqliteFile(dataDir), { timeout: 0 })
      try {
        links.exec('pragma synchronous = full')
        const db = kyselyOver(new SqliteConnection(links))
        await inTransaction(links, BUSY_DEADLINE_MS, () => skipLinkNumbers(db, seq))
      } finally {
        links.close()
      }
    },
  }
}
