import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import { COUNTED_DAYS, SCOPES } from '../click-day-rows.ts'
import { PARTS } from '../fold-days.ts'
import { personsIn } from './check-sums.ts'
import { rawClicksFile } from './raw-click-source.ts'

/** Rows of a day's file that are looked at in one transaction. */
const ROWS_PER_STEP = 20_000

/** The days with counts, ascending. */
export function listCountedDays(database: DatabaseSync): readonly number[] {
  return database
    .prepare(COUNTED_DAYS)
    .all()
    .map(({ day }) => Number(day))
}

/**
 * Deletes the counters and charts of links, within a transaction. The sums that a check of the file compares
 * (check-sums.ts) stay equal: the links' charts lose as much as the counters, those of domains and workspaces
 * keep what was counted.
 */
export function eraseLinkRows(database: DatabaseSync, linkSeqs: readonly number[]): void {
  const among = 'in (select value from json_each(?))'
  const seqs = JSON.stringify(linkSeqs)
  const counters = database
    .prepare(`delete from link_clicks where link_seq ${among} returning clicks`)
    .all(seqs)
  const ofDay = `day = ? and scope = ${SCOPES.link} and subject ${among}`
  const deletes = ['click_days', 'unsettled_days'].map((table) =>
    database.prepare(`delete from ${table} where ${ofDay}`),
  )
  for (const day of listCountedDays(database)) {
    for (const statement of deletes) statement.run(day, seqs)
  }
  const clicks = counters.reduce((sum, row) => sum + Number(row.clicks), 0)
  database
    .prepare(
      `update file_marks set clicks = clicks - ?1,
         domain_offset = domain_offset + ?1, workspace_offset = workspace_offset + ?1`,
    )
    .run(clicks)
}

/** Deletes the charts of a workspace and of its domains on one day, within a transaction. */
export function eraseWorkspaceDay(database: DatabaseSync, day: number, workspaceId: string): void {
  const erase = (scope: number): number => {
    const ofScope = 'day = ? and scope = ? and workspace_id = ?'
    database.prepare(`delete from unsettled_days where ${ofScope}`).run(day, scope, workspaceId)
    return database
      .prepare(`delete from click_days where ${ofScope} returning part, data`)
      .all(day, scope, workspaceId)
      .filter(({ part }) => part === PARTS.recent || part === PARTS.total)
      .reduce((sum, { part, data }) => sum + personsIn(Number(part), data), 0)
  }
  const ofDomains = erase(SCOPES.domain)
  const ofWorkspace = erase(SCOPES.workspace)
  if (ofDomains === 0 && ofWorkspace === 0) return
  database
    .prepare(
      `update file_marks set domain_offset = domain_offset - ?,
         workspace_offset = workspace_offset - ?`,
    )
    .run(ofDomains, ofWorkspace)
}

/**
 * Empties the raw clicks of a workspace in a day's file. The rows stay: that none is missing shows that a file is
 * whole.
 */
export async function eraseRawClicks(
  folder: string,
  day: number,
  workspaceId: string,
  deadlineMs: number,
): Promise<void> {
  const name = rawClicksFile(folder, day)
  if (!existsSync(name)) return
  const file = new DatabaseSync(name, { timeout: deadlineMs })
  try {
    // Overwrites the old content instead of leaving it in unused bytes.
    file.exec('pragma secure_delete = on; pragma synchronous = full; pragma busy_timeout = 0')
    if (file.prepare(`select 1 from sqlite_schema where name = 'workspaces'`).get() === undefined)
      return
    const found = file.prepare('select number from workspaces where id = ?').get(workspaceId)
    if (found === undefined) return
    const last = Number(
      file.prepare('select coalesce(max(rowid), 0) as last from clicks').get()?.last,
    )
    const empty = file.prepare(
      `update clicks set link_seq = 0, workspace = null, keyspace_id = null, visitor = 0,
         ${CLICK_DIMENSIONS.map((dimension) => `${dimension} = ''`).join()}
       where rowid > ? and rowid <= ? and workspace = ?`,
    )
    for (let after = 0; after < last; after += ROWS_PER_STEP) {
      const step = [after, after + ROWS_PER_STEP, Number(found.number)] as const
      await inTransaction(file, deadlineMs, () => empty.run(...step))
    }
    await inTransaction(file, deadlineMs, () =>
      file
        .prepare(`update workspaces set id = 'erased ' || number where number = ?`)
        .run(Number(found.number)),
    )
  } finally {
    file.close()
  }
}
