import { type Kysely, type RawBuilder, sql } from 'kysely'
import { numberArray, textArray, uuidArray } from '../../../storage/postgres/errors.ts'
import type { Scans } from '../../../storage/scans.ts'
import type { Schema } from '../../../storage/schema.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import type { ClickColumns } from '../../click-columns.ts'
import { formatDay, parseDay, startOfDay } from '../../tally/click-day.ts'
import type { NewRawClick } from '../raw-click-quota.ts'
import {
  type LinkCounts,
  type OwnedClick,
  RAW_CLICK_COLUMNS,
  type RawClickRow,
  type RawClickSource,
  type RawDayQuery,
} from '../raw-click-source.ts'

/** The tables of single clicks: those that were counted here, and those that came back from ClickHouse. */
export const RAW_TABLES = ['clicks', 'returned_clicks'] as const

type RawTable = (typeof RAW_TABLES)[number]

function rowsOf(table: RawTable): RawBuilder<Schema['clicks']> {
  return sql`${sql.table(table)}`
}

/** The table, and the indexes that exports read pages through. */
export const RAW_CLICKS_TABLE = [
  'create sequence clicks_id',
  `create table clicks (
    id bigint not null default nextval('clicks_id'),
    at bigint not null,
    link_seq bigint not null,
    workspace_id uuid,
    keyspace_id bigint,
    flags integer not null,
    visitor bigint not null,
    country text not null,
    device text not null,
    os text not null,
    browser text not null,
    referrer text not null,
    language text not null,
    source text not null
  ) partition by range (at)`,
  'create index clicks_of_link on clicks (link_seq, id)',
  'create index clicks_of_workspace on clicks (workspace_id, id)',
]

/** The table of single clicks that came back from ClickHouse. */
export const RETURNED_CLICKS_TABLE = [
  'create sequence returned_clicks_id',
  `create table returned_clicks (
    id bigint not null default nextval('returned_clicks_id'),
    origin bigint not null,
    at bigint not null,
    link_seq bigint not null,
    workspace_id uuid,
    keyspace_id bigint,
    flags integer not null,
    count bigint not null,
    visitor bigint not null,
    country text not null,
    device text not null,
    os text not null,
    browser text not null,
    referrer text not null,
    language text not null,
    source text not null,
    rule text not null,
    variant text not null,
    label text not null,
    region text not null,
    city text not null
  ) partition by range (at)`,
  'create index returned_clicks_of_link on returned_clicks (link_seq, id)',
  'create index returned_clicks_of_workspace on returned_clicks (workspace_id, id)',
]

/** Adds the number of visits that a row represents. */
export const RAW_CLICK_COUNT = ['alter table clicks add column count bigint not null default 1']

/** Adds what the rules of links decided. */
export const RAW_CLICK_RULES = [
  "alter table clicks add column rule text not null default '', add column variant text not null default ''",
]

/** Adds the label. */
export const RAW_CLICK_LABELS = ["alter table clicks add column label text not null default ''"]

/** Adds the region and the city. */
export const RAW_CLICK_PLACES = [
  "alter table clicks add column region text not null default '', add column city text not null default ''",
]

export async function insertRawClicks(
  db: Kysely<Schema>,
  clicks: ClickColumns,
  rows: readonly NewRawClick[],
): Promise<void> {
  if (rows.length === 0) return
  const numbersOf = (numberOf: (row: NewRawClick) => number | null) =>
    numberArray(rows.map(numberOf))
  const columnOf = (column: Float64Array | Uint16Array) =>
    numbersOf(({ index }) => column[index] ?? 0)
  const values = CLICK_DIMENSIONS.map(
    (_, dimension) =>
      sql`${textArray(rows.map(({ index }) => clicks.text(dimension, index)))}::text[]`,
  )
  await sql`
    insert into clicks (at, link_seq, workspace_id, keyspace_id, flags, count, visitor, ${sql.join(
      CLICK_DIMENSIONS.map((dimension) => sql.ref(dimension)),
    )})
    select * from unnest(
      ${columnOf(clicks.at)}::bigint[],
      ${columnOf(clicks.link_seq)}::bigint[],
      ${uuidArray(rows.map(({ owner }) => owner?.workspace_id ?? null))}::uuid[],
      ${numbersOf(({ owner }) => owner?.keyspace_id ?? null)}::bigint[],
      ${columnOf(clicks.flags)}::integer[],
      ${numbersOf(({ count }) => count)}::bigint[],
      ${columnOf(clicks.visitor)}::bigint[],
      ${sql.join(values)})`.execute(db)
}

/** Lists the days that have a partition. */
async function listPartitions(db: Kysely<Schema>, table: RawTable): Promise<ReadonlySet<number>> {
  const result = await sql<{ name: string }>`
    select relname as name from pg_inherits
    join pg_class on pg_class.oid = inhrelid
    where inhparent = ${table}::regclass`.execute(db)
  return new Set(
    result.rows
      .map(({ name }) => parseDay(name.slice(table.length + 1).replaceAll('_', '-')))
      .filter((day) => day !== undefined),
  )
}

/** Creates a day's partition. Throws if another node has just created it. */
async function createPartition(db: Kysely<Schema>, parent: RawTable, day: number): Promise<void> {
  const table = sql.table(partitionOf(parent, day))
  await db.transaction().execute(async (tx) => {
    await sql`create table if not exists ${table} (like ${sql.table(parent)} including defaults)`.execute(
      tx,
    )
    // Creating it as a partition would wait for every reader of the table; attaching does not.
    await sql`
      alter table ${sql.table(parent)} attach partition ${table}
      for values from (${sql.lit(startOfDay(day))}) to (${sql.lit(startOfDay(day + 1))})`.execute(
      tx,
    )
  })
}

/** Drops a day's partition. Fails if readers hold locks for more than 1 s; the next maintenance retries. */
async function dropPartition(db: Kysely<Schema>, parent: RawTable, day: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = '1s'`.execute(tx)
    await sql`drop table if exists ${sql.table(partitionOf(parent, day))}`.execute(tx)
  })
}

function partitionOf(parent: RawTable, day: number): string {
  return `${parent}_${formatDay(day).replaceAll('-', '_')}`
}

const PAGE_ROWS = 1_000
/** Rows of one query of all workspaces. */
const OWNED_ROWS = 10_000

/** Reads pages through the partition's index on links or on workspaces. */
export function postgresRawClickSource({ db }: Scans): RawClickSource {
  async function* pagesOf(
    table: RawTable,
    { scope, day, fromMicros, toMicros, scan }: RawDayQuery,
  ): AsyncGenerator<readonly RawClickRow[]> {
    for (let after = 0; ; ) {
      let query = db
        .selectFrom(rowsOf(table).as('clicks'))
        .select(['id', ...RAW_CLICK_COLUMNS])
        .where('at', '>=', Math.max(fromMicros, startOfDay(day)))
        .where('at', '<', Math.min(toMicros, startOfDay(day + 1)))
        .where('workspace_id', '=', scope.workspaceId)
        .where('id', '>', after)
        .orderBy('id')
        .limit(PAGE_ROWS)
      if (scope.kind === 'link') query = query.where('link_seq', '=', scope.linkSeq)
      if (scope.kind === 'domain') query = query.where('keyspace_id', '=', scope.keyspaceId)
      const rows = await scan.turn(() => query.execute())
      const last = rows.at(-1)
      if (last === undefined) return
      after = last.id
      yield rows.map(({ id, ...row }) => row)
      if (rows.length < PAGE_ROWS) return
    }
  }

  return {
    async *pages(query) {
      for (const table of RAW_TABLES) yield* pagesOf(table, query)
    },

    async *linkCounts({ scope, day, fromMicros, toMicros, scan }) {
      const ofDomain = scope.kind === 'domain' ? sql`and keyspace_id = ${scope.keyspaceId}` : sql``
      const ofLink = scope.kind === 'link' ? sql`and link_seq = ${scope.linkSeq}` : sql``
      for (const table of RAW_TABLES) {
        const query = sql<LinkCounts>`
        select link_seq as "linkSeq", cast(sum(case when flags = 0 then count else 0 end) as bigint) as persons,
          cast(sum(case when flags = 0 then 0 else count end) as bigint) as others
        from ${sql.table(table)}
        where at >= ${Math.max(fromMicros, startOfDay(day))} and at < ${Math.min(toMicros, startOfDay(day + 1))}
          and workspace_id = ${scope.workspaceId} ${ofDomain} ${ofLink}
        group by link_seq`
        yield (await scan.turn(() => query.execute(db))).rows
      }
    },
  }
}

/** Reads the clicks of a day that belong to a workspace, of all of them, except those that came from `origin`. */
export async function* postgresOwnedClicks(
  db: Kysely<Schema>,
  day: number,
  origin: number | undefined,
): AsyncGenerator<readonly OwnedClick[]> {
  yield* ownedClicksOf(db, 'clicks', day, sql<boolean>`true`)
  const isOfOther = sql<boolean>`origin is distinct from ${origin ?? null}::bigint`
  yield* ownedClicksOf(db, 'returned_clicks', day, isOfOther)
}

async function* ownedClicksOf(
  db: Kysely<Schema>,
  table: RawTable,
  day: number,
  condition: RawBuilder<boolean>,
): AsyncGenerator<readonly OwnedClick[]> {
  let after = sql<boolean>`workspace_id is not null`
  for (;;) {
    const rows = await db
      .selectFrom(rowsOf(table).as('clicks'))
      .select(['id', 'workspace_id', ...RAW_CLICK_COLUMNS])
      .where('at', '>=', startOfDay(day))
      .where('at', '<', startOfDay(day + 1))
      .where(condition)
      .where(after)
      .orderBy('workspace_id')
      .orderBy('id')
      .limit(OWNED_ROWS)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(({ id, workspace_id, ...click }) => ({
      ...click,
      workspace_id: workspace_id ?? '',
    }))
    after = sql<boolean>`(workspace_id, id) > (${last.workspace_id}::uuid, ${last.id}::bigint)`
  }
}

/** Partitions are created this many days ahead. */
const DAYS_AHEAD = 3

/** Creates the partitions of a table of raw clicks, one per UTC day, and drops those of all tables. */
export class ClickPartitions {
  readonly #db: Kysely<Schema>
  readonly #table: RawTable
  #known: ReadonlySet<number> | undefined

  constructor(db: Kysely<Schema>, table: RawTable = 'clicks') {
    this.#db = db
    this.#table = table
  }

  /**
   * Creates missing partitions. With a wrong clock, clicks can be on any day; they are stored like others.
   */
  async ensure(days: Iterable<number>): Promise<void> {
    const wanted = [...days]
    this.#known ??= await listPartitions(this.#db, this.#table)
    for (const day of wanted) {
      if (!this.#known.has(day)) await this.#create(day)
    }
  }

  /** Discards the cached list: another node may have dropped a partition. */
  forget(): void {
    this.#known = undefined
  }

  async maintain(today: number, oldestDay: number | undefined): Promise<void> {
    this.forget()
    await this.ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => today + ahead))
    if (oldestDay === undefined) return
    // A node whose clock is ahead must not drop partitions too early.
    const daysAhead = Math.max(0, today - (await this.#serverDay()))
    for (const table of RAW_TABLES) {
      for (const day of await listPartitions(this.#db, table)) {
        if (day < oldestDay - daysAhead) await dropPartition(this.#db, table, day)
      }
    }
    this.forget()
  }

  async #serverDay(): Promise<number> {
    const result = await sql<{ day: number }>`
      select floor(extract(epoch from now()) / 86400)::integer as day`.execute(this.#db)
    const [row] = result.rows
    if (row === undefined) throw new Error('PostgreSQL returned no current day')
    return row.day
  }

  async #create(day: number): Promise<void> {
    let failure: unknown
    try {
      await createPartition(this.#db, this.#table, day)
    } catch (error) {
      failure = error
    }
    this.#known = await listPartitions(this.#db, this.#table)
    // If two nodes create the same partition, one of them fails although it exists now.
    if (failure !== undefined && !this.#known.has(day)) throw failure
  }
}
