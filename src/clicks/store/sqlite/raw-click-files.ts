import { chmodSync, rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { createFolder } from '../../../platform/disk/folder.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import type { ClickIndexes } from '../../click-columns.ts'
import type { ClickBatch } from '../../click-writer.ts'
import { daysOf, type OwnerOf } from '../batch-deltas.ts'
import type { RawClickQuota, RawClickRow } from '../raw-click-quota.ts'
import { listRawDays, rawClicksFile } from './raw-click-source.ts'

/** The most open day files: today's, those of late clicks, and those of a batch of imported ones. */
const OPEN_FILES_MAX = 12
const PAGE_CACHE_KIB = 2 * 1024

type DayFile = {
  readonly database: DatabaseSync
  /** Caches the file's own numbers for workspaces. */
  readonly workspaces: Map<string, number>
  readonly addWorkspace: StatementSync
  readonly insert: StatementSync
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
    indexes: ClickIndexes,
  ): { visits: number; rows: readonly RawClickRow[]; rowsOfBatch: number } {
    const { clicks, journalId, from, ownerOf } = batch
    const segment = from?.segment ?? 0
    const offset = from?.offset ?? 0
    const taken = file.findTaken.get(journalId, segment, offset)
    const done = Number(taken?.clicks ?? 0)
    const left = done === 0 ? indexes : indexes.slice(done)
    const rows = this.#rows.plan(batch, left, ownerOf)
    for (const { click, owner } of rows) {
      file.insert.run(
        click.at,
        click.link_seq,
        owner === undefined ? null : workspaceIn(file, owner.workspace_id),
        owner?.keyspace_id ?? null,
        click.flags,
        click.count,
        click.visitor,
        ...CLICK_DIMENSIONS.map((dimension) => click[dimension]),
      )
    }
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

/** The columns of a raw click, in the order in which they are inserted. */
export const RAW_COLUMNS = [
  'at',
  'link_seq',
  'workspace',
  'keyspace_id',
  'flags',
  'count',
  'visitor',
  ...CLICK_DIMENSIONS,
] as const

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
        count integer not null default 1
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
      insert: database.prepare(
        `insert into clicks (${RAW_COLUMNS.join()}) values (${RAW_COLUMNS.map(() => '?').join()})`,
      ),
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
