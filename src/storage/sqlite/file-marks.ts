import type { DatabaseSync } from 'node:sqlite'

/** The layout of a write-ahead log: https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const SALTS_AT = { header: 16, frame: 8 }
const SALTS_BYTES = 8
/** The lowest bit of a log's first word says whether its checksums take words as big-endian. */
const MAGIC = 0x377f0682

/**
 * Counts the frames at the start of a write-ahead log whose checksums, each of which covers all frames before
 * it, are right. After a power failure, SQLite recovers these and no others.
 *
 * @param read returns the next `bytes` of the log, valid until the next call, or undefined at its end
 */
export function countSoundFrames(read: (bytes: number) => Buffer | undefined): number {
  const header = read(HEADER_BYTES)
  if (header === undefined) return 0
  const magic = header.readUInt32BE(0)
  if ((magic & ~1) >>> 0 !== MAGIC) return 0
  const sum = new Checksum((magic & 1) === 1)
  sum.add(header, 0, HEADER_BYTES - 8)
  if (!sum.equals(header, HEADER_BYTES - 8)) return 0
  const salts = Buffer.from(header.subarray(SALTS_AT.header, SALTS_AT.header + SALTS_BYTES))
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
  for (let count = 0; ; count += 1) {
    const frame = read(frameBytes)
    if (frame === undefined) return count
    if (!frame.subarray(SALTS_AT.frame, SALTS_AT.frame + SALTS_BYTES).equals(salts)) return count
    sum.add(frame, 0, 8)
    sum.add(frame, FRAME_HEADER_BYTES, frameBytes)
    if (!sum.equals(frame, FRAME_HEADER_BYTES - 8)) return count
  }
}

class Checksum {
  readonly #isBigEndian: boolean
  #first = 0
  #second = 0

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian
  }

  add(bytes: Buffer, start: number, end: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const isLittle = !this.#isBigEndian
    let first = this.#first
    let second = this.#second
    for (let at = start; at < end; at += 8) {
      first = (first + view.getUint32(at, isLittle) + second) >>> 0
      second = (second + view.getUint32(at + 4, isLittle) + first) >>> 0
    }
    this.#first = first
    this.#second = second
  }

  equals(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second
  }
}

/**
 * The mark in terse.db: which run wrote the file last, and the state of clicks.db that this run
 * knew. A run begins when the first process opens the data folder and ends when the last one closes
 * it.
 */
export type LinksMark = {
  readonly run: number
  /** Random, so that the runs of two copies of one folder differ. */
  readonly runId: string
  /** The run that clicks.db named when this run began; null when it named none. */
  readonly clicksRunId: string | null
  /** Whether the run ended with an orderly stop rather than a crash. */
  readonly isStopped: boolean
  /**
   * The number of batches in clicks.db when this mark was last written. clicks.db must have at
   * least as many.
   */
  readonly batches: number
  /** Identifies the physical files: copies of them have a different identity. */
  readonly identity: string
  /** Since when a full check of the files is due; null when none is due. */
  readonly uncheckedSinceMs: number | null
}

/** The mark in clicks.db: its own state, and the state of terse.db at its last batch. */
export type ClicksMark = {
  readonly run: number
  readonly runId: string | null
  readonly isStopped: boolean
  /** The number of transactions that ingested clicks. */
  readonly batches: number
  /** The sum of all links' counters. */
  readonly clicks: number
  /** How many of these are in no chart of the file, because the charts are in ClickHouse. */
  readonly uncharted: number
  /**
   * The difference between `clicks` and the chart sums of domains and workspaces that a repair
   * left.
   */
  readonly domainOffset: number
  readonly workspaceOffset: number
  /**
   * The last numbers that terse.db had assigned to a change and to a link. terse.db must have
   * reached at least these.
   */
  readonly changesSeen: number
  readonly linksSeen: number
  /** Raw click files of days before this one may have been dropped; null while none has been. */
  readonly droppedBefore: number | null
}

type ClicksRun = Pick<ClicksMark, 'run' | 'runId' | 'isStopped' | 'changesSeen' | 'linksSeen'>

/** The last numbers that terse.db has assigned. Deleting rows does not lower them. */
export type GivenNumbers = { readonly links: number; readonly changes: number }

/**
 * Creates the marks of clicks.db. The row is inserted last: without it the file counts as unmarked.
 */
export const FILE_MARKS_TABLES = [
  // The number of rows of counted batches in a day's file.
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

/** Clicks that the links' counters have and no chart: those of which the charts are in ClickHouse. */
export const UNCHARTED_CLICKS_TABLE = [
  `create table if not exists uncharted_clicks (
    id integer primary key check (id = 1),
    clicks integer not null
  )`,
  'insert or ignore into uncharted_clicks values (1, 0)',
]

/** The row of `instance` that holds the mark. */
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
 * @param schema the name under which clicks.db is attached to the connection
 * @returns undefined for a file written by a program without marks
 */
export function readClicksMark(database: DatabaseSync, schema = 'main'): ClicksMark | undefined {
  if (!hasTable(database, schema, 'file_marks')) return undefined
  const row = database.prepare(`select * from ${schema}.file_marks`).get()
  if (row === undefined) return undefined
  const uncharted = hasTable(database, schema, 'uncharted_clicks')
    ? database.prepare(`select clicks from ${schema}.uncharted_clicks`).get()
    : undefined
  return {
    run: Number(row.run),
    runId: row.run_id === null ? null : String(row.run_id),
    isStopped: row.is_stopped === 1,
    batches: Number(row.batches),
    clicks: Number(row.clicks),
    uncharted: Number(uncharted?.clicks ?? 0),
    domainOffset: Number(row.domain_offset),
    workspaceOffset: Number(row.workspace_offset),
    changesSeen: Number(row.changes_seen),
    linksSeen: Number(row.links_seen),
    droppedBefore: row.dropped_before === null ? null : Number(row.dropped_before),
  }
}

/** Records the run of clicks.db, and the state of terse.db that the run has seen. */
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

/** Removes the mark, so that the next start accepts the files as an unmarked set. */
export function removeLinksMark(database: DatabaseSync): void {
  database.prepare('delete from instance where name = ?').run(MARK)
}

export function removeClicksMark(database: DatabaseSync): void {
  database.exec(
    'update file_marks set run_id = null, changes_seen = 0, links_seen = 0; delete from raw_days',
  )
}

/** @param schema the name under which terse.db is attached to the connection */
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
