import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { createFolder } from '../../../platform/disk/folder.ts'
import { DAYS_FOLDER } from '../../../storage/file-fault.ts'
import type { Schema } from '../../../storage/schema.ts'
import { kyselyOver, openToRead, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import type { ScanConnection } from '../../../storage/sqlite/scan-connection.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { CLICK_DIMENSIONS, SPARSE_DIMENSIONS, VISITOR_DIMENSIONS } from '../../click.ts'
import type { ClickColumns } from '../../click-columns.ts'
import type { ClickBatch } from '../../click-writer.ts'
import { formatDay, parseDay } from '../../tally/click-day.ts'
import { daysOf, type OwnerOf } from '../batch-deltas.ts'
import type { NewRawClick, RawClickQuota } from '../raw-click-quota.ts'
import {
  type LinkCounts,
  type OwnedClick,
  RAW_CLICK_COLUMNS,
  type RawClickRow,
  type RawClickSource,
  type RawDayQuery,
} from '../raw-click-source.ts'

/** The most open day files: today's, those of late clicks, and those of a batch of imported ones. */
const OPEN_FILES_MAX = 12
const PAGE_CACHE_KIB = 2 * 1024
const OPEN_DEADLINE_MS = 5_000

type DayFile = {
  readonly database: DatabaseSync
  /** Caches the file's own numbers for workspaces. */
  readonly workspaces: Map<string, number>
  readonly addWorkspace: StatementSync
  readonly insert: StatementSync
  /** The same for a click without a value in `SPARSE_DIMENSIONS`, which nearly all are: 0.5 to 1 µs less. */
  readonly insertPlain: StatementSync
  readonly findTaken: StatementSync
  readonly setTaken: StatementSync
}

/** A batch, and what is needed to store its raw clicks. */
type RawBatch = Pick<ClickBatch, 'journalId' | 'from' | 'imported' | 'clicks'> & {
  readonly ownerOf: OwnerOf
  /** Whether the journal's position is still `from`. */
  isCurrent(): Promise<boolean>
  deadlineMs: number
  /** Clicks of earlier days get no row. */
  oldestDay: number
}

/**
 * Writes the raw clicks' files, one per day.
 *
 * In write-ahead mode, SQLite transactions over several files are not atomic. So each file stores, for each
 * journal, how many clicks it has inserted from which position on, and in how many rows. If the transaction
 * that counts the batch is rolled back, the retry finds the rows by that and does not insert them twice.
 */
export class RawClickFiles {
  readonly #folder: string
  readonly #rows: RawClickQuota
  readonly #open = new Map<number, DayFile>()

  constructor(folder: string, rows: RawClickQuota) {
    this.#folder = folder
    this.#rows = rows
  }

  /**
   * Inserts the batch. Returns its number of rows by day, including those of earlier attempts; undefined if the
   * journal's position is no longer `from`.
   */
  async insert(batch: RawBatch): Promise<ReadonlyMap<number, number> | undefined> {
    const rowsByDay = new Map<number, number>()
    for (const { day, ofDay } of daysOf(batch.clicks, batch.clicks.indexes())) {
      if (day < batch.oldestDay) continue
      const file = this.#fileOf(day)
      try {
        const inserted = await inTransaction(file.database, batch.deadlineMs, async () => {
          // Checked under the file's lock: another writer of this batch waits, or has moved the position.
          if (!(await batch.isCurrent())) return undefined
          return this.#insertInto(file, batch, ofDay)
        })
        if (inserted === undefined) return undefined
        this.#rows.noteWritten(batch, inserted.visits, inserted.rows)
        rowsByDay.set(day, inserted.rowsOfBatch)
      } catch (error) {
        // The rollback may have undone what the caches of this file contain.
        this.#close(day)
        throw error
      }
    }
    return rowsByDay
  }

  /** Closes the files of the days before `day`, so that they are complete without a log, for backups. */
  closeBefore(day: number): void {
    for (const each of this.#open.keys()) if (each < day) this.#close(each)
  }

  /** Removes the files of the days before `oldestDay`. */
  dropBefore(oldestDay: number): void {
    for (const day of listRawDays(this.#folder)) {
      if (day >= oldestDay) return
      this.#close(day)
      const file = rawClicksFile(this.#folder, day)
      for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true })
    }
  }

  close(): void {
    for (const day of this.#open.keys()) this.#close(day)
  }

  /** Returns the rows of the clicks that were not inserted before, and the visits of these clicks. */
  #insertInto(
    file: DayFile,
    batch: RawBatch,
    indexes: Uint32Array,
  ): { visits: number; rows: readonly NewRawClick[]; rowsOfBatch: number } {
    const { clicks, journalId, from, ownerOf } = batch
    const segment = from?.segment ?? 0
    const offset = from?.offset ?? 0
    const taken = file.findTaken.get(journalId, segment, offset)
    const done = Number(taken?.clicks ?? 0)
    const left = done === 0 ? indexes : indexes.slice(done)
    const rows = this.#rows.plan(batch, left, ownerOf)
    for (const row of rows) insertRow(file, clicks, row)
    const rowsOfBatch = Number(taken?.rows ?? done) + rows.length
    file.setTaken.run(journalId, segment, offset, Math.max(done, indexes.length), rowsOfBatch)
    return { visits: clicks.visitsOf(left), rows, rowsOfBatch }
  }

  #fileOf(day: number): DayFile {
    const known = this.#open.get(day)
    const [oldest] = this.#open.keys()
    if (known === undefined && oldest !== undefined && this.#open.size >= OPEN_FILES_MAX) {
      this.#close(oldest)
    }
    const file = known ?? openDayFile(this.#folder, day)
    // Last: the file that was not used for longest is closed first.
    this.#open.delete(day)
    this.#open.set(day, file)
    return file
  }

  #close(day: number): void {
    this.#open.get(day)?.database.close()
    this.#open.delete(day)
  }
}

/** The columns of a raw click besides its dimensions, in the order in which they are inserted. */
const FACTS = ['at', 'link_seq', 'workspace', 'keyspace_id', 'flags', 'count', 'visitor'] as const

/** The columns of a raw click, in the order in which they are inserted. */
export const RAW_COLUMNS = [...FACTS, ...CLICK_DIMENSIONS] as const

function insertInto(columns: readonly string[]): string {
  return `insert into clicks (${columns.join()}) values (${columns.map(() => '?').join()})`
}

function insertRow(
  file: DayFile,
  clicks: ClickColumns,
  { index, count, owner }: NewRawClick,
): void {
  const isPlain = clicks.dimensionsOf(index) === VISITOR_DIMENSIONS.length
  const dimensions = isPlain ? VISITOR_DIMENSIONS : CLICK_DIMENSIONS
  const insert = isPlain ? file.insertPlain : file.insert
  insert.run(
    clicks.at[index] ?? 0,
    clicks.link_seq[index] ?? 0,
    owner === undefined ? null : workspaceIn(file, owner.workspace_id),
    owner?.keyspace_id ?? null,
    clicks.flags[index] ?? 0,
    count,
    clicks.visitor[index] ?? 0,
    ...dimensions.map((_, dimension) => clicks.text(dimension, index)),
  )
}

function workspaceIn({ workspaces, addWorkspace }: DayFile, id: string): number {
  return workspaces.getOrInsertComputed(id, () => Number(addWorkspace.get(id)?.number))
}

/** Opens the file of a day, and creates it with its tables if it is missing. */
export function openDayDatabase(folder: string, day: number): DatabaseSync {
  createFolder(folder)
  const name = rawClicksFile(folder, day)
  const database = new DatabaseSync(name, { timeout: 1_000 })
  try {
    chmodSync(name, 0o600)
    database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma cache_size = -${PAGE_CACHE_KIB};
      create table if not exists clicks (
        at integer not null,
        link_seq integer not null,
        workspace integer,
        keyspace_id integer,
        flags integer not null,
        visitor integer not null,
        country text not null,
        device text not null,
        os text not null,
        browser text not null,
        referrer text not null,
        language text not null,
        source text not null,
        count integer not null default 1,
        rule text not null default '',
        variant text not null default '',
        label text not null default '',
        region text not null default '',
        city text not null default ''
      );
      create table if not exists workspaces (
        number integer primary key,
        id text not null unique
      );
      create table if not exists taken (
        journal_id text primary key,
        segment integer not null,
        position integer not null,
        clicks integer not null,
        rows integer
      );
    `)
    ensureColumn(database, { table: 'clicks', name: 'count', type: 'integer not null default 1' })
    for (const name of SPARSE_DIMENSIONS) {
      ensureColumn(database, { table: 'clicks', name, type: "text not null default ''" })
    }
    ensureColumn(database, { table: 'taken', name: 'rows', type: 'integer' })
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function openDayFile(folder: string, day: number): DayFile {
  const database = openDayDatabase(folder, day)
  try {
    return {
      database,
      workspaces: new Map(),
      addWorkspace: database.prepare(
        'insert into workspaces (id) values (?) on conflict do update set id = id returning number',
      ),
      insert: database.prepare(insertInto(RAW_COLUMNS)),
      insertPlain: database.prepare(insertInto([...FACTS, ...VISITOR_DIMENSIONS])),
      findTaken: database.prepare(
        'select clicks, rows from taken where journal_id = ? and segment = ? and position = ?',
      ),
      setTaken: database.prepare(`
        insert into taken (journal_id, segment, position, clicks, rows) values (?, ?, ?, ?, ?)
        on conflict (journal_id) do update set
          segment = excluded.segment, position = excluded.position,
          clicks = excluded.clicks, rows = excluded.rows`),
    }
  } catch (error) {
    database.close()
    throw error
  }
}

type Column = { readonly table: string; readonly name: string; readonly type: string }

/** Adds a column that is missing in a day's file of an older release. */
function ensureColumn(database: DatabaseSync, { table, name, type }: Column): void {
  const column = database.prepare('select 1 from pragma_table_info(?) where name = ?')
  const isMissing = () => column.get(table, name) === undefined
  if (!isMissing()) return
  database.exec('begin immediate')
  // Another process may have added it in the meantime.
  if (isMissing()) database.exec(`alter table ${table} add column ${name} ${type}`)
  database.exec('commit')
}

const PAGE_ROWS = 1_000
/** Rows scanned for one page, of all subjects: a few milliseconds on the scan thread. */
const ROWS_PER_QUERY = 20_000

/** Scans each file from its beginning: exports are too rare to justify maintaining an index. */
export function sqliteRawClickSource(folder: string, scans: ScanConnection): RawClickSource {
  const open = (day: number) => {
    const file = rawClicksFile(folder, day)
    return existsSync(file) ? kyselyOver(scans.over(file)) : undefined
  }
  return {
    async *pages(query) {
      const db = open(query.day)
      if (db !== undefined) yield* pagesOf(db, query)
    },
    async *linkCounts(query) {
      const db = open(query.day)
      if (db !== undefined) yield* linkCountsOf(db, query)
    },
  }
}

const OWNER = sql<string>`(select id from workspaces where number = workspace)`

/**
 * Reads the clicks of a day that belong to a workspace, of all of them, except those that came from `origin`, beside what
 * writes the file.
 */
export async function* sqliteOwnedClicks(
  folder: string,
  day: number,
  origin: number | undefined,
): AsyncGenerator<readonly OwnedClick[]> {
  const file = rawClicksFile(folder, day)
  if (!existsSync(file)) return
  const database = openToRead(file, OPEN_DEADLINE_MS)
  try {
    const db = kyselyOver(new SqliteConnection(database))
    for (const { clicks, end, name } of await tablesIn(db)) {
      const isOwn =
        name === 'clicks' ? sql<boolean>`true` : sql<boolean>`origin is not ${origin ?? null}`
      for (let after = 0; after < end; after += ROWS_PER_QUERY) {
        yield await db
          .selectFrom(clicks.as('clicks'))
          .select([OWNER.as('workspace_id'), ...RAW_CLICK_COLUMNS])
          .where(sql<number>`rowid`, '>', after)
          .where(sql<number>`rowid`, '<=', Math.min(after + ROWS_PER_QUERY, end))
          .where(sql`workspace`, 'is not', null)
          .where(isOwn)
          .execute()
      }
    }
  } finally {
    database.close()
  }
}

async function* pagesOf(
  db: Kysely<Schema>,
  { scope, fromMicros, toMicros, scan }: RawDayQuery,
): AsyncGenerator<readonly RawClickRow[]> {
  for (const { clicks, end } of await scan.turn(() => tablesIn(db))) {
    for (let after = 0; after < end; ) {
      const until = after + ROWS_PER_QUERY
      let query = db
        .selectFrom(clicks.as('clicks'))
        .select([sql<number>`rowid`.as('id'), ...RAW_CLICK_COLUMNS])
        .where(sql<number>`rowid`, '>', after)
        .where(sql<number>`rowid`, '<=', Math.min(until, end))
        .where('at', '>=', fromMicros)
        .where('at', '<', toMicros)
        .where(
          sql`workspace`,
          '=',
          sql`(select number from workspaces where id = ${scope.workspaceId})`,
        )
        .orderBy(sql`rowid`)
        .limit(PAGE_ROWS)
      if (scope.kind === 'link') query = query.where('link_seq', '=', scope.linkSeq)
      if (scope.kind === 'domain') query = query.where('keyspace_id', '=', scope.keyspaceId)
      const rows = await scan.turn(() => query.execute())
      after = rows.length < PAGE_ROWS ? until : (rows.at(-1)?.id ?? until)
      yield rows.map(({ id, ...row }) => row)
    }
  }
}

/** Reads the sums as three JSON arrays: a row for each link would cost more between the threads than the adding up. */
async function* linkCountsOf(
  db: Kysely<Schema>,
  { scope, fromMicros, toMicros, scan }: RawDayQuery,
): AsyncGenerator<readonly LinkCounts[]> {
  const ofDomain = scope.kind === 'domain' ? sql`and keyspace_id = ${scope.keyspaceId}` : sql``
  const ofLink = scope.kind === 'link' ? sql`and link_seq = ${scope.linkSeq}` : sql``
  for (const { clicks, end } of await scan.turn(() => tablesIn(db))) {
    for (let after = 0; after < end; after += ROWS_PER_QUERY) {
      const query = sql<Record<'links' | 'persons' | 'others', string>>`
      select json_group_array(link_seq) as links, json_group_array(persons) as persons,
        json_group_array(others) as others
      from (
        select link_seq, sum(iif(flags = 0, count, 0)) as persons,
          sum(iif(flags = 0, 0, count)) as others
        from ${clicks}
        where rowid > ${after} and rowid <= ${Math.min(after + ROWS_PER_QUERY, end)}
          and at >= ${fromMicros} and at < ${toMicros}
          and workspace = (select number from workspaces where id = ${scope.workspaceId})
          ${ofDomain} ${ofLink}
        group by link_seq)`
      const { rows } = await scan.turn(() => query.execute(db))
      for (const row of rows) {
        const links: number[] = JSON.parse(row.links)
        const persons: number[] = JSON.parse(row.persons)
        const others: number[] = JSON.parse(row.others)
        yield links.map((linkSeq, nth) => ({
          linkSeq,
          persons: persons[nth] ?? 0,
          others: others[nth] ?? 0,
        }))
      }
    }
  }
}

/** A table of single clicks in a day's file, with its last row. */
type RawTable = {
  readonly name: 'clicks' | 'returned_clicks'
  readonly clicks: RawBuilder<Schema['clicks']>
  readonly end: number
}

/** Returns those that were counted here, and those that came back from ClickHouse if there are any. */
async function tablesIn(db: Kysely<Schema>): Promise<readonly RawTable[]> {
  const clicks = { name: 'clicks', clicks: await clicksIn(db), end: await lastRow(db) } as const
  const found = await sql`select 1 from sqlite_schema where name = 'returned_clicks'`.execute(db)
  if (found.rows.length === 0) return [clicks]
  const end = await lastRow(db, 'returned_clicks')
  return [clicks, { name: 'returned_clicks', clicks: sql`returned_clicks`, end }]
}

async function lastRow(db: Kysely<Schema>, table: RawTable['name'] = 'clicks'): Promise<number> {
  const last = await db
    .selectFrom(table)
    .select(sql<number | null>`max(rowid)`.as('id'))
    .executeTakeFirst()
  return last?.id ?? 0
}

/** What a file of an older release has in place of a column, until it is written to. */
const MISSING = [
  ['count', sql`1`],
  ...SPARSE_DIMENSIONS.map((name) => [name, sql`''`] as const),
] as const

/** Returns the table of a day's clicks, with all columns. */
export async function clicksIn(db: Kysely<Schema>): Promise<RawBuilder<Schema['clicks']>> {
  const found = await sql<{ name: string }>`select name from pragma_table_info('clicks')`.execute(
    db,
  )
  const known = new Set(found.rows.map(({ name }) => name))
  const missing = MISSING.filter(([name]) => !known.has(name))
  if (missing.length === 0) return sql`clicks`
  const added = missing.map(([name, value]) => sql`${value} as ${sql.ref(name)}`)
  return sql`(select rowid, *, ${sql.join(added)} from clicks)`
}

const EXTENSION = '.db'

/** Where the raw clicks are, a file for each UTC day, so that a day is dropped by removing its file. */
export function rawClicksFolder(dataDir: string): string {
  return path.join(dataDir, DAYS_FOLDER)
}

export function rawClicksFile(folder: string, day: number): string {
  return path.join(folder, formatDay(day) + EXTENSION)
}

/** The days of which there are raw clicks, ascending. */
export function listRawDays(folder: string): number[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => parseDay(name.slice(0, -EXTENSION.length)))
    .filter((day) => day !== undefined)
    .sort((a, b) => a - b)
}
