import type { DatabaseSync } from 'node:sqlite'

/**
 * What terse.db says of the files of its data folder: which run wrote it last, and what that run knew
 * of clicks.db. A run begins with the first process that opens the folder and ends with the last one
 * that closes it.
 */
export type LinksMark = {
  readonly run: number
  /** Random, so that the runs of two copies of one folder differ. */
  readonly runId: string
  /** The run that clicks.db named when this one began; null where it named none. */
  readonly clicksRunId: string | null
  /** Whether the run has ended by a stop rather than by a crash. */
  readonly isStopped: boolean
  /** Batches that clicks.db had taken when this was last written: it has at least as many. */
  readonly batches: number
  /** Which files these were: a copy of them has another identity. */
  readonly identity: string
  /** Since when the files have not been checked in full though they should be; null where they have. */
  readonly uncheckedSinceMs: number | null
}

/** What clicks.db says of itself, and what it knew of terse.db at its last batch. */
export type ClicksMark = {
  readonly run: number
  readonly runId: string | null
  readonly isStopped: boolean
  /** Transactions that took clicks. */
  readonly batches: number
  /** The sum of all links' counters. */
  readonly clicks: number
  /** By how much the charts of domains and of workspaces differ from it since a repair. */
  readonly domainOffset: number
  readonly workspaceOffset: number
  /** The last numbers that terse.db had given to a change and to a link: it has given at least these. */
  readonly changesSeen: number
  readonly linksSeen: number
  /** Files of days before this one may be there or not; null while none has been dropped. */
  readonly droppedBefore: number | null
}

type ClicksRun = Pick<ClicksMark, 'run' | 'runId' | 'isStopped' | 'changesSeen' | 'linksSeen'>

/** The last numbers that terse.db has given. Deleting rows does not lower them. */
export type GivenNumbers = { readonly links: number; readonly changes: number }

/** Makes what clicks.db keeps of itself; the row comes last, and without it there are no marks. */
export const FILE_MARKS_TABLES = [
  // How many rows a day's file has for batches that have been counted.
  'create table if not exists raw_days (day integer primary key, clicks integer not null)',
  `create table if not exists file_marks (
    id integer primary key check (id = 1),
    run integer not null,
    run_id text,
    is_stopped integer not null,
    batches integer not null,
    clicks integer not null,
    domain_offset integer not null,
    workspace_offset integer not null,
    changes_seen integer not null,
    links_seen integer not null,
    dropped_before integer
  )`,
  `insert or ignore into file_marks
    select 1, 0, null, 0, 0, coalesce(sum(clicks), 0), 0, 0, 0, 0, null from link_clicks`,
]

/** The row of the table `instance`. */
const MARK = 'file_mark'

export function readLinksMark(database: DatabaseSync): LinksMark | undefined {
  if (!hasTable(database, 'main', 'instance')) return undefined
  const row = database.prepare('select value from instance where name = ?').get(MARK)
  return row === undefined ? undefined : JSON.parse(String(row.value))
}

export function writeLinksMark(database: DatabaseSync, mark: LinksMark): void {
  database
    .prepare(
      `insert into instance (name, value) values (?, ?)
       on conflict (name) do update set value = excluded.value`,
    )
    .run(MARK, JSON.stringify(mark))
}

/**
 * @param schema under which clicks.db is attached to the connection
 * @returns undefined for a file of a program that knew no marks
 */
export function readClicksMark(database: DatabaseSync, schema = 'main'): ClicksMark | undefined {
  if (!hasTable(database, schema, 'file_marks')) return undefined
  const row = database.prepare(`select * from ${schema}.file_marks`).get()
  if (row === undefined) return undefined
  return {
    run: Number(row.run),
    runId: row.run_id === null ? null : String(row.run_id),
    isStopped: row.is_stopped === 1,
    batches: Number(row.batches),
    clicks: Number(row.clicks),
    domainOffset: Number(row.domain_offset),
    workspaceOffset: Number(row.workspace_offset),
    changesSeen: Number(row.changes_seen),
    linksSeen: Number(row.links_seen),
    droppedBefore: row.dropped_before === null ? null : Number(row.dropped_before),
  }
}

/** Which run it is of, and what that has seen of terse.db. */
export function writeClicksRun(
  database: DatabaseSync,
  { run, runId, isStopped, changesSeen, linksSeen }: ClicksRun,
): void {
  database
    .prepare(
      `update file_marks set run = ?, run_id = ?, is_stopped = ?, changes_seen = ?, links_seen = ?`,
    )
    .run(run, runId, isStopped ? 1 : 0, changesSeen, linksSeen)
}

/** Has the files taken for a set that no run has marked yet. */
export function removeLinksMark(database: DatabaseSync): void {
  database.prepare('delete from instance where name = ?').run(MARK)
}

export function removeClicksMark(database: DatabaseSync): void {
  database.exec(
    'update file_marks set run_id = null, changes_seen = 0, links_seen = 0; delete from raw_days',
  )
}

/** @param schema under which terse.db is attached to the connection */
export function readGivenNumbers(database: DatabaseSync, schema = 'main'): GivenNumbers {
  if (!hasTable(database, schema, 'sqlite_sequence')) return { links: 0, changes: 0 }
  const rows = database.prepare(`select name, seq from ${schema}.sqlite_sequence`).all()
  const given = new Map(rows.map(({ name, seq }) => [name, Number(seq)]))
  return { links: given.get('links') ?? 0, changes: given.get('changes') ?? 0 }
}

export function hasTable(database: DatabaseSync, schema: string, table: string): boolean {
  const found = database.prepare(`select 1 from ${schema}.sqlite_schema where name = ?`).get(table)
  return found !== undefined
}
