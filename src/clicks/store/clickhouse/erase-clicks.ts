import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import { dayOf } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'
import type { ErasedClicks } from '../raw-click-source.ts'
import { foldClicks } from './fold-clicks.ts'
import { changed, partsOf, storedName } from './layout.ts'
import { ROLLUP_TABLES } from './schema.ts'

/** The tables of single clicks. */
const SINGLE_CLICKS = ['clicks', 'live_clicks'] as const
/** A block that was begun before midnight is in the tables an hour later, unless ClickHouse was down. */
const INSERT_MICROS_MAX = 60 * 60 * 1_000_000
/** A mutation of a large table takes long; a failed one goes on in the background, and the next call waits for it. */
const WAITS = { lightweight_deletes_sync: '1', mutations_sync: '1' } as const

/**
 * Deletes the charts of links, or the charts and single clicks of a workspace. No query returns them any more;
 * `maintainClicks` removes them from the disk.
 */
export async function eraseClicks(db: ClickHouse, erased: ErasedClicks): Promise<void> {
  if (erased.kind === 'links') {
    const { linkSeqs: links } = erased
    const isAmong = `scope = ${SCOPES.link} and subject in {links:Array(UInt64)}`
    await deleteFrom(db, ROLLUP_TABLES, isAmong, { links })
    await deleteFrom(db, ['link_days'], 'link in {links:Array(UInt64)}', { links })
    return
  }
  const params = { workspace: erased.workspaceId }
  const ofScopes = `scope in (${SCOPES.domain}, ${SCOPES.workspace})`
  await deleteFrom(db, ROLLUP_TABLES, `${ofScopes} and workspace = {workspace:UUID}`, params)
  await deleteFrom(db, SINGLE_CLICKS, 'workspace = {workspace:UUID}', params)
}

/**
 * Folds single clicks of days before `oldestDay`, if given, and removes them and what was erased from the disk. Months are
 * dropped when they end; until then the days of a month are only deleted, so that they are not written again each day.
 */
export async function maintainClicks(
  db: ClickHouse,
  today: number,
  oldestDay: number | undefined,
): Promise<void> {
  if (oldestDay !== undefined) {
    const [now] = await db.rows<{ readonly micros: number }>(
      'select toUnixTimestamp64Micro(now64(6)) as micros',
    )
    // A node whose clock is ahead must not delete clicks too early, and single clicks of the day may still be inserted.
    const daysAhead = Math.max(0, today - dayOf((now?.micros ?? 0) - INSERT_MICROS_MAX))
    await foldClicks(db, oldestDay - daysAhead, (micros) => deleteBefore(db, micros))
  }
  await removeErased(db)
}

async function deleteBefore(db: ClickHouse, micros: number): Promise<void> {
  const date = new Date(micros / 1_000).toISOString().slice(0, 10).replaceAll('-', '')
  for (const partition of await partitionsOf(db, 'clicks')) {
    // By month (YYYYMM) or day (YYYYMMDD).
    if (partition < date.slice(0, partition.length)) await dropPartition(db, 'clicks', partition)
  }
  await deleteFrom(db, ['clicks'], 'at < {before:Int64}', { before: micros })
}

async function partitionsOf(db: ClickHouse, table: string): Promise<readonly string[]> {
  const found = await db.rows<{ readonly partition: string }>(
    `select distinct partition from ${partsOf(db.address)} and table = {table:String}`,
    { params: { table: storedName(table, db.address) } },
  )
  return found.map(({ partition }) => partition)
}

async function dropPartition(db: ClickHouse, table: string, partition: string): Promise<void> {
  await db.command(`alter table ${changed(table, db.address)} drop partition ${Number(partition)}`)
}

/** Writes the parts again that have deleted rows, without them. */
async function removeErased(db: ClickHouse): Promise<void> {
  const found = await db.rows<{ readonly table: string; readonly partition_id: string }>(
    `select distinct table, partition_id from ${partsOf(db.address)} and has_lightweight_delete`,
  )
  for (const { table, partition_id } of found) {
    const name = changed(table.replace(/_local$/, ''), db.address)
    await db.command(`alter table ${name} apply deleted mask in partition id '${partition_id}'`, {
      settings: WAITS,
    })
  }
}

export async function deleteFrom(
  db: ClickHouse,
  tables: readonly string[],
  where: string,
  params: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const table of tables) {
    const [found] = await db.rows<{ readonly rows: number }>(
      `select count() as rows from ${table} where ${where}`,
      { params },
    )
    if (found?.rows === 0) continue
    await db.command(`delete from ${changed(table, db.address)} where ${where}`, {
      params,
      settings: WAITS,
    })
  }
}
