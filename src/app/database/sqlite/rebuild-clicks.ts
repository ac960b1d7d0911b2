import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { CLICK_DIMENSIONS, type Click, countedClick } from '../../../clicks/click.ts'
import { ClickColumns } from '../../../clicks/click-columns.ts'
import { computeBatchDeltas, type Owner } from '../../../clicks/store/batch-deltas.ts'
import type { JournalPosition } from '../../../clicks/store/click-store.ts'
import { foldDays, type LinkCount, PARTS, SCOPES } from '../../../clicks/store/fold-days.ts'
import { personsIn, sumCharts } from '../../../clicks/store/sqlite/check-sums.ts'
import { sqliteClickRows } from '../../../clicks/store/sqlite/click-rows.ts'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../../clicks/store/sqlite/raw-click-files.ts'
import { OPENING_AT } from '../../../clicks/tally/click-day.ts'
import {
  BEGINNING,
  comparePositions,
  type DayFacts,
  readCounted,
  readDay,
  spoolPositionAfter,
  unfinishedBatches,
} from '../../../data-files/examine-files.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { kyselyOver, openToRead, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import { countedFile, sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { createMigrationTable, migrate } from '../migrations/migrate.ts'
import { COLUMN_TYPES } from './column-types.ts'
import { salvageClicks } from './salvage-files.ts'

const BUSY_MS = 5_000
/** The position for a journal that no longer exists: nothing is left to ingest. */
const END_OF_JOURNAL: JournalPosition = { segment: 2 ** 31, offset: 0 }
const CLICKS_AT_A_TIME = 20_000

/** Returns where a batch of a journal ends; see `journal-reader.ts`. */
export type PositionAfter = (
  journalId: string,
  from: JournalPosition,
  clicks: number,
) => JournalPosition | undefined

/** Creates an empty clicks.db with this program's schema. */
export async function makeClicksFile(dataDir: string, clock: Clock): Promise<void> {
  const scratch = new DatabaseSync(':memory:')
  const counted = new DatabaseSync(countedFile(dataDir))
  try {
    chmodSync(countedFile(dataDir), 0o600)
    counted.exec('pragma journal_mode = wal; pragma synchronous = full')
    const db = kyselyOver(new SqliteConnection(scratch))
    await createMigrationTable(db)
    const clicks = kyselyOver(new SqliteConnection(counted))
    await migrate({ db, clicks, types: COLUMN_TYPES, clock, exclusively: (work) => work(db) })
  } finally {
    counted.close()
    scratch.close()
  }
}

/**
 * Recounts the clicks of days' files and replaces the counts of these days in clicks.db; the counts
 * of other days are kept. Moves the journal positions to where the days' files end. Runs in one
 * transaction, so that a killed process leaves the file unchanged.
 *
 * @param options.days `differing`: only days whose file has other rows than clicks.db has counted
 * @param options.salvagedFrom a damaged clicks.db, of which the counts of other days are kept where they can be read
 */
export async function rebuildClicks(
  dataDir: string,
  options: {
    days: 'all' | 'differing'
    positionAfter: PositionAfter
    salvagedFrom?: string | undefined
  },
): Promise<void> {
  const { days, positionAfter, salvagedFrom } = options
  const database = new DatabaseSync(countedFile(dataDir), { timeout: BUSY_MS })
  const folder = rawClicksFolder(dataDir)
  async function reading<T>(day: number, work: (file: DatabaseSync) => T): Promise<Awaited<T>> {
    const file = openToRead(rawClicksFile(folder, day), BUSY_MS)
    try {
      return await work(file)
    } finally {
      file.close()
    }
  }
  try {
    database.exec('pragma synchronous = full; pragma temp_store = memory')
    const facts: DayFacts[] = []
    for (const day of listRawDays(folder)) {
      facts.push(await reading(day, (file) => readDay(file, day)))
    }
    const { positions, rawDays } = readCounted(database)
    const counted = facts.filter((of) => days === 'all' || differs(of, positions, rawDays))
    await inTransaction(database, BUSY_MS, async () => {
      const recount = new Recount(database)
      const countedDays = counted.map(({ day }) => day)
      if (salvagedFrom !== undefined) salvageClicks(database, salvagedFrom, countedDays)
      for (const { day, rows } of counted) {
        recount.forgetDay(day)
        if (rows === 0) continue
        await reading(day, async (file) => {
          for (const chunk of readClicks(file)) await recount.add(chunk)
        })
      }
      recount.addOtherDays(countedDays)
      if (salvagedFrom !== undefined) await recount.addLostDays(dataDir)
      recount.writeCounters()
      await recount.movePositions(
        facts,
        async (id, from, clicks) =>
          (await spoolPositionAfter(dataDir, id, from)) ?? positionAfter(id, from, clicks),
      )
    })
  } finally {
    database.close()
  }
}

/** Whether the batches or rows of a day's file differ from what clicks.db has counted. */
function differs(
  { day, rows, taken }: DayFacts,
  positions: ReadonlyMap<string, JournalPosition>,
  rawDays: ReadonlyMap<number, number>,
): boolean {
  if (rows !== (rawDays.get(day) ?? 0)) return true
  return taken.some(
    (batch) => comparePositions(batch, positions.get(batch.journalId) ?? BEGINNING) >= 0,
  )
}

/** Clicks with their owners at the time of ingestion: one owner for each link. */
type Chunk = { readonly clicks: readonly Click[]; readonly owners: ReadonlyMap<number, Owner> }

class Recount {
  readonly #database: DatabaseSync
  readonly #db
  readonly #rows

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#db = kyselyOver(new SqliteConnection(database))
    this.#rows = sqliteClickRows(database)
    database.exec(
      'create temp table recounted (link_seq integer primary key, clicks integer, last_click integer)',
    )
  }

  forgetDay(day: number): void {
    // What came back from ClickHouse is not in the day's clicks: the next move adds it again.
    for (const table of ['click_days', 'unsettled_days', 'returned_tallies']) {
      this.#database.prepare(`delete from ${table} where day = ?`).run(day)
    }
    this.#database.prepare(`update returned_days set mark = '' where day = ?`).run(day)
  }

  async add({ clicks, owners }: Chunk): Promise<void> {
    const columns = ClickColumns.of(clicks)
    const ownerOf = (linkSeq: number) => owners.get(linkSeq)
    const { counts, deltas } = computeBatchDeltas({ clicks: columns }, ownerOf)
    const grown = await this.#rows.appendToDays(deltas)
    await foldDays({ db: this.#db, rows: this.#rows }, grown)
    for (const count of counts) this.#addToLink(count)
  }

  /** Adds the counts of the days that were not recounted, from their charts. */
  addOtherDays(recounted: readonly number[]): void {
    const others = this.#database.prepare(
      `select subject, part, data from click_days where scope = ${SCOPES.link}
         and part <= ${PARTS.total} and day not in (select value from json_each(?))`,
    )
    for (const { subject, part, data } of others.iterate(JSON.stringify(recounted))) {
      const clicks = personsIn(Number(part), data)
      if (clicks > 0) this.#addToLink({ link_seq: Number(subject), clicks, last_click: -1 })
    }
  }

  /**
   * Adds, as clicks without a date, what a link's salvaged counter has more than its charts: clicks
   * of days that could not be read, and clicks that were counted without a row.
   */
  async addLostDays(dataDir: string): Promise<void> {
    const ownerOf = readOwners(dataDir)
    const lost = this.#database
      .prepare(
        `select link_seq, salvaged.clicks - coalesce(recounted.clicks, 0) as clicks, salvaged.last_click
           from salvaged left join recounted using (link_seq)
           where salvaged.clicks > coalesce(recounted.clicks, 0)`,
      )
      .all()
    for (const row of lost) {
      const link_seq = Number(row.link_seq)
      const owner = ownerOf(link_seq)
      if (owner === undefined) continue
      const click = countedClick(link_seq, OPENING_AT, Number(row.clicks))
      const { deltas } = computeBatchDeltas({ clicks: ClickColumns.of([click]) }, () => owner)
      // The charts of its domain and workspace have rows of their own.
      await this.#rows.appendToDays([...deltas].filter(({ scope }) => scope === SCOPES.link))
      const last_click = Number(row.last_click)
      this.#addToLink({ link_seq, clicks: Number(row.clicks), last_click })
    }
  }

  writeCounters(): void {
    this.#database.exec(`
      insert into link_clicks select link_seq, clicks, last_click from recounted where true
        on conflict do update set clicks = excluded.clicks,
          last_click = max(last_click, excluded.last_click);
      delete from link_clicks where link_seq not in (select link_seq from recounted);
      update file_marks set clicks = (select coalesce(sum(clicks), 0) from link_clicks)`)
    const { link, domain, workspace } = sumCharts(this.#database)
    this.#database
      .prepare('update file_marks set domain_offset = ?, workspace_offset = ?')
      .run(domain - link, workspace - link)
  }

  async movePositions(
    days: readonly DayFacts[],
    positionAfter: (...batch: Parameters<PositionAfter>) => Promise<ReturnType<PositionAfter>>,
  ): Promise<void> {
    const find = this.#database.prepare(
      'select segment, position from journal_positions where journal_id = ?',
    )
    const move = this.#database.prepare(
      `insert into journal_positions (journal_id, segment, position, updated_at) values (?, ?, ?, 0)
       on conflict do update set segment = excluded.segment, position = excluded.position`,
    )
    for (const { journalId, from, clicks } of lastBatches(days)) {
      const row = find.get(journalId)
      const known = { segment: Number(row?.segment ?? 0), offset: Number(row?.position ?? 0) }
      if (comparePositions(from, known) < 0) continue
      const { segment, offset } = (await positionAfter(journalId, from, clicks)) ?? END_OF_JOURNAL
      move.run(journalId, segment, offset)
    }
  }

  #addToLink({ link_seq, clicks, last_click }: LinkCount): void {
    this.#database
      .prepare(
        `insert into recounted values (?, ?, ?) on conflict do update set
           clicks = clicks + excluded.clicks, last_click = max(last_click, excluded.last_click)`,
      )
      .run(link_seq, clicks, last_click)
  }
}

/** Returns how to find the owner of a link; undefined for one that does not exist. */
function readOwners(dataDir: string): (linkSeq: number) => Owner | undefined {
  const links = openToRead(sqliteFile(dataDir), BUSY_MS)
  try {
    const rows = links.prepare('select seq, workspace_id, keyspace_id from links').all()
    const owners = new Map(
      rows.map(({ seq, workspace_id, keyspace_id }) => [
        Number(seq),
        { workspace_id: String(workspace_id), keyspace_id: Number(keyspace_id) },
      ]),
    )
    return (linkSeq) => owners.get(linkSeq)
  } finally {
    links.close()
  }
}

/** Returns, for each journal, the last batch that reached the days' files, summed over the days. */
function lastBatches(days: readonly DayFacts[]) {
  const positions = new Map<string, JournalPosition>()
  for (const { journalId, segment, offset } of days.flatMap(({ taken }) => taken)) {
    const known = positions.get(journalId)
    const from = { segment, offset }
    if (known === undefined || comparePositions(from, known) > 0) positions.set(journalId, from)
  }
  return unfinishedBatches(positions, days)
}

function* readClicks(file: DatabaseSync): Generator<Chunk> {
  const workspaces = new Map<unknown, string>()
  for (const { number, id } of file.prepare('select number, id from workspaces').iterate()) {
    workspaces.set(number, String(id))
  }
  const known = new Map<string, Owner>()
  function ownerOf(workspace: unknown, keyspace_id: number): Owner | undefined {
    const workspace_id = workspaces.get(workspace)
    if (workspace_id === undefined) return undefined
    const name = `${workspace_id} ${keyspace_id}`
    const owner = known.get(name) ?? { workspace_id, keyspace_id }
    known.set(name, owner)
    return owner
  }

  let clicks: Click[] = []
  let owners = new Map<number, Owner>()
  for (const row of file.prepare('select * from clicks').iterate()) {
    const click = toClick(row)
    const owner = ownerOf(row.workspace, Number(row.keyspace_id))
    // A link that moved to another domain has two owners, which must be in different chunks.
    const isOther = owners.has(click.link_seq) && owners.get(click.link_seq) !== owner
    if (isOther || clicks.length >= CLICKS_AT_A_TIME) {
      yield { clicks, owners }
      clicks = []
      owners = new Map()
    }
    if (owner === undefined) continue
    clicks.push(click)
    owners.set(click.link_seq, owner)
  }
  yield { clicks, owners }
}

function toClick(row: Readonly<Record<string, unknown>>): Click {
  const [
    country = '',
    device = '',
    os = '',
    browser = '',
    referrer = '',
    language = '',
    source = '',
    rule = '',
    variant = '',
    label = '',
    region = '',
    city = '',
  ] = CLICK_DIMENSIONS.map((dimension) => String(row[dimension] ?? ''))
  return {
    at: Number(row.at),
    link_seq: Number(row.link_seq),
    flags: Number(row.flags),
    count: Number(row.count ?? 1),
    visitor: Number(row.visitor),
    ...{
      country,
      device,
      os,
      browser,
      referrer,
      language,
      source,
      rule,
      variant,
      label,
      region,
      city,
    },
  }
}
