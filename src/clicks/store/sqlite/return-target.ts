import { DatabaseSync } from 'node:sqlite'
import { kyselyOver, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import { attachForReading, countedFile, sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { translateError } from '../../../storage/sqlite/errors.ts'
import { readClicksMark } from '../../../storage/sqlite/file-marks.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import type { OwnedClick } from '../raw-click-source.ts'
import type { ReturnTarget } from '../returned-days.ts'
import { sqliteClickRows } from './click-rows.ts'
import { openDayDatabase, rawClicksFolder } from './raw-click-files.ts'

const OPEN_DEADLINE_MS = 5_000
/** The service's batches take long on a slow disk. */
const BUSY_DEADLINE_MS = 60_000

/** Opens the files of a data folder, which must be migrated, beside the service. */
export function openSqliteReturnTarget(dataDir: string): ReturnTarget {
  const database = new DatabaseSync(countedFile(dataDir), { timeout: OPEN_DEADLINE_MS })
  try {
    database.exec('pragma synchronous = full; pragma secure_delete = on')
    attachForReading(database, { file: sqliteFile(dataDir), name: 'terse' })
    // From here on `inTransaction` waits for locks, without blocking the thread.
    database.exec('pragma busy_timeout = 0')
  } catch (error) {
    database.close()
    throw translateError(error, dataDir)
  }
  const db = kyselyOver(new SqliteConnection(database))
  const rows = sqliteClickRows(database)
  const folder = rawClicksFolder(dataDir)
  const chart = database.prepare('update uncharted_clicks set clicks = clicks - ?')
  const offset = database.prepare(
    `update file_marks set domain_offset = domain_offset + ?, workspace_offset = workspace_offset + ?`,
  )
  return {
    transaction: (work) =>
      inTransaction(database, BUSY_DEADLINE_MS, () =>
        work({
          db,
          rows,
          // Keeps the sums equal that a check of the file compares (check-sums.ts).
          noteCharted({ link, domain, workspace }) {
            chart.run(link)
            offset.run(domain - link, workspace - link)
          },
        }),
      ),

    async replaceClicks(origin, day, pages) {
      const droppedBefore = readClicksMark(database)?.droppedBefore ?? null
      if (droppedBefore !== null && day < droppedBefore) return 0
      return replaceClicks(openDayDatabase(folder, day), origin, pages)
    },

    close: async () => database.close(),
  }
}

const FACTS = ['at', 'link_seq', 'keyspace_id', 'flags', 'count', 'visitor'] as const
const COLUMNS = [...FACTS, ...CLICK_DIMENSIONS] as const

/** Writes a page at a time, because the service may write to the file too. */
async function replaceClicks(
  file: DatabaseSync,
  origin: number,
  pages: AsyncIterable<readonly OwnedClick[]>,
): Promise<number> {
  try {
    file.exec('pragma secure_delete = on; pragma busy_timeout = 0')
    await inTransaction(file, BUSY_DEADLINE_MS, () => {
      file.exec(`create table if not exists returned_clicks (
        origin integer not null,
        workspace integer not null,
        ${FACTS.map((name) => `${name} integer${name === 'keyspace_id' ? '' : ' not null'}`).join()},
        ${CLICK_DIMENSIONS.map((name) => `${name} text not null`).join()}
      )`)
      file.prepare('delete from returned_clicks where origin = ?').run(origin)
    })
    const addWorkspace = file.prepare(
      'insert into workspaces (id) values (?) on conflict do update set id = id returning number',
    )
    const insert = file.prepare(
      `insert into returned_clicks (origin, workspace, ${COLUMNS.join()})
       values (?, ?, ${COLUMNS.map(() => '?').join()})`,
    )
    let clicks = 0
    for await (const page of pages) {
      await inTransaction(file, BUSY_DEADLINE_MS, () => {
        const numbers = new Map<string, number>()
        for (const click of page) {
          const workspace = numbers.getOrInsertComputed(click.workspace_id, (id) =>
            Number(addWorkspace.get(id)?.number),
          )
          insert.run(origin, workspace, ...COLUMNS.map((column) => click[column]))
        }
      })
      clicks += page.length
    }
    return clicks
  } finally {
    file.close()
  }
}
