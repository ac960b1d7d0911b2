import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import type { Counted, Subject, SubjectCounted, SubjectDay } from '../../move/click-history.ts'
import { sumCounts } from '../../report/day-of-clicks.ts'
import { startOfDay } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'
import type { OwnedClick } from '../raw-click-source.ts'
import { deleteFrom } from './erase-clicks.ts'
import { DAY_OF_CLICK, FOLDED_BEFORE, impliedValue, NO_WORKSPACE, ONE_BLOCK } from './schema.ts'

/** A state of a day that was read from the other database. */
export type DayVersion = {
  readonly day: number
  /** Later ones are greater. */
  readonly version: number
  /** Of what was read. */
  readonly checksum: string
  /** How many chunks its subjects are divided into. */
  readonly chunks: number
  /** Whether all of it is in the tables that charts read. */
  readonly isDone: boolean
}

/** A subject whose state differs from the version before. */
export type ChangedSubject = Subject & {
  /** Undefined if it was not in the version before. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array
}

/** A subject's day whose counts are not what was moved. */
export type Difference = Subject & {
  readonly day: number
  readonly source: number
  readonly target: number
}

type SubjectRow = { readonly scope: number; readonly subject: number; readonly workspace: string }

/** The versions that charts have. */
export const LATEST = `(select day, max(version) from (
  select day, version from moved_days group by day, version having max(is_done) = 1) group by day)`
const DAYS = '(select day from moved_days where is_done = 1)'
/** Where both tables of a query are spread over a cluster. */
const ACROSS_SHARDS = { distributed_product_mode: 'global' } as const
const DIFFERENCES_MAX = 1_000
/** Sums of more subjects than that are made on the disk. */
const SUM_BYTES_MAX = 1_000_000_000

/** Writes clicks that another database has counted, beside those that ClickHouse counts itself. */
export class MovedDays {
  readonly #db: ClickHouse

  constructor(db: ClickHouse) {
    this.#db = db
  }

  /** Returns the versions of each day, ascending. */
  async versions(): Promise<ReadonlyMap<number, readonly DayVersion[]>> {
    const rows = await this.#db.rows<Omit<DayVersion, 'isDone'> & { readonly done: number }>(
      `select day, version, any(checksum) as checksum, any(chunks) as chunks, max(is_done) as done
      from moved_days group by day, version order by version`,
    )
    return Map.groupBy(
      rows.map(({ done, ...version }) => ({ ...version, isDone: done === 1 })),
      ({ day }) => day,
    )
  }

  /** Notes a version whose subjects are all written, or that charts have it. */
  async note({ day, version, checksum, chunks, isDone }: DayVersion): Promise<void> {
    await this.#insert('moved_days', [{ day, version, checksum, chunks, is_done: isDone ? 1 : 0 }])
  }

  /** Writes subjects of a version, each with its counts. */
  async addSubjects(
    { day, version }: Pick<DayVersion, 'day' | 'version'>,
    chunk: number,
    subjects: readonly (SubjectDay & Pick<Counted, 'slots'>)[],
  ): Promise<void> {
    const rows = subjects.map(({ data, slots, ...subject }) => ({
      ...keyOf(subject),
      day,
      version,
      chunk,
      ...sumCounts(slots),
      data: Buffer.from(data).toString('base64'),
    }))
    await this.#insert('moved_tallies', rows)
  }

  /** Returns the subjects of a chunk that are not as in the version before, in a fixed order. */
  async changedSubjects(
    { day, version }: Pick<DayVersion, 'day' | 'version'>,
    chunk: number,
    before: DayVersion | undefined,
  ): Promise<readonly ChangedSubject[]> {
    const params = { day, version, chunk, before: before?.version ?? 0 }
    const rows = await this.#db.rows<SubjectRow & { data: string; old: string }>(
      `select scope, subject, workspace, fresh.data as data, old.data as old
      from (
        select scope, subject, workspace, data from moved_tallies
        where day = {day:Int32} and version = {version:UInt64} and chunk = {chunk:UInt32}) as fresh
      left join (
        select scope, subject, workspace, data from moved_tallies
        where day = {day:Int32} and version = {before:UInt64}) as old
      using (scope, subject, workspace)
      where fresh.data != old.data
      order by scope, subject, workspace`,
      { params, settings: ACROSS_SHARDS },
    )
    return rows.map(({ data, old, ...subject }) => ({
      ...subjectOf(subject),
      before: old === '' ? undefined : Buffer.from(old, 'base64'),
      after: Buffer.from(data, 'base64'),
    }))
  }

  /** Adds counts to charts. What has the same token is added once. */
  async addCounts(day: number, token: string, subjects: readonly SubjectCounted[]): Promise<void> {
    const tables = {
      click_counts: subjects.flatMap((subject) => countRows(day, subject)),
      click_values: subjects
        .filter(({ scope }) => scope !== SCOPES.link)
        .flatMap((subject) => valueRows(day, subject)),
      link_days: subjects
        .filter(({ scope }) => scope === SCOPES.link)
        .flatMap((subject) => linkDayRows(day, subject)),
      click_visitors: subjects.flatMap((subject) => visitorRows(day, subject)),
    }
    for (const [table, rows] of Object.entries(tables)) {
      await this.#insert(table, rows, token)
    }
  }

  /**
   * Replaces the moved single clicks of a day. Their count is 0, because charts have them already; `kept` is what exports
   * read.
   */
  async replaceClicks(day: number, pages: AsyncIterable<readonly OwnedClick[]>): Promise<number> {
    const params = { from: startOfDay(day), to: startOfDay(day + 1) }
    await deleteFrom(
      this.#db,
      ['clicks'],
      'count = 0 and at >= {from:Int64} and at < {to:Int64}',
      params,
    )
    const [folded] = await this.#db.rows<{ before: number }>(`select ${FOLDED_BEFORE} as before`)
    let clicks = 0
    if (day < (folded?.before ?? 0)) return clicks
    for await (const page of pages) {
      const rows = page.map(({ link_seq, workspace_id, keyspace_id, count, ...click }) => ({
        ...click,
        link: link_seq,
        workspace: workspace_id,
        keyspace: keyspace_id ?? 0,
        count: 0,
        kept: count,
      }))
      await this.#insert('clicks', rows)
      clicks += page.length
    }
    return clicks
  }

  /** Removes what other versions of a day have written besides charts. */
  async forgetOthers({ day, version }: DayVersion): Promise<void> {
    const others = 'day = {day:Int32} and version != {version:UInt64}'
    await deleteFrom(this.#db, ['moved_tallies'], others, { day, version })
    // They are read while the day has as many clicks: the visitors may differ.
    await deleteFrom(this.#db, ['busy_days'], 'day = {day:Int32}', { day })
  }

  /** Returns the numbers of links above `after` that have clicks on moved days, ascending. */
  async linksAfter(after: number, limit: number): Promise<readonly number[]> {
    const rows = await this.#db.rows<{ readonly subject: number }>(
      `select distinct subject from click_counts
      where scope = ${SCOPES.link} and subject > {after:UInt64} and day in ${DAYS}
      order by subject limit {limit:UInt32}`,
      { params: { after, limit }, settings: ACROSS_SHARDS },
    )
    return rows.map(({ subject }) => subject)
  }

  /** Returns the workspaces that have clicks on moved days. */
  async workspaces(): Promise<readonly string[]> {
    const rows = await this.#db.rows<{ readonly workspace: string }>(
      `select distinct workspace from click_counts
      where scope = ${SCOPES.workspace} and day in ${DAYS}`,
      { settings: ACROSS_SHARDS },
    )
    return rows.map(({ workspace }) => workspace)
  }

  /**
   * Compares what was moved with what charts have besides the clicks that ClickHouse has counted itself. Of folded days these
   * are gone, so their charts may have more.
   */
  async differences(): Promise<readonly Difference[]> {
    const rows = await this.#db.rows<SubjectRow & Pick<Difference, 'day' | 'source' | 'target'>>(
      `select scope, subject, workspace, day,
        toInt64(sum(moved_persons) + sum(moved_others)) as source,
        toInt64(sum(chart_persons) + sum(chart_others)) as target
      from (
        select scope, subject, workspace, day, toInt64(persons) as moved_persons,
          toInt64(others) as moved_others, toInt64(0) as chart_persons, toInt64(0) as chart_others
        from moved_tallies where (day, version) in ${LATEST}
        union all
        select scope, subject, workspace, day, 0, 0, toInt64(persons), toInt64(others)
        from click_counts where day in ${DAYS}
        union all
        select subjects.1, subjects.2, subjects.3, day, 0, 0,
          -toInt64(sumIf(count, flags = 0)), -toInt64(sumIf(count, flags != 0))
        from (
          select ${DAY_OF_CLICK} as day, flags, count, arrayJoin([
            (toUInt8(${SCOPES.link}), link, toUUID('${NO_WORKSPACE}')),
            (toUInt8(${SCOPES.domain}), keyspace, workspace),
            (toUInt8(${SCOPES.workspace}), toUInt64(0), workspace)]) as subjects
          from clicks where count > 0)
        where day in ${DAYS}
        group by subjects, day)
      group by scope, subject, workspace, day
      having sum(moved_persons) > sum(chart_persons) or sum(moved_others) > sum(chart_others)
        or (day >= ${FOLDED_BEFORE}
          and (sum(moved_persons) < sum(chart_persons) or sum(moved_others) < sum(chart_others)))
      order by day, scope, subject, workspace limit ${DIFFERENCES_MAX}`,
      { settings: { ...ACROSS_SHARDS, max_bytes_before_external_group_by: String(SUM_BYTES_MAX) } },
    )
    return rows.map(({ day, source, target, ...subject }) => {
      return { ...subjectOf(subject), day, source, target }
    })
  }

  /** @param token makes a repeated insert the same; by default this one is unlike all others, also of the same rows */
  async #insert(
    table: string,
    rows: readonly object[],
    token: string = randomUUID(),
  ): Promise<void> {
    if (rows.length === 0) return
    const names = Object.keys(rows[0] ?? {}).join(', ')
    const text = rows.map((row) => JSON.stringify(row)).join('\n')
    await this.#db.insert(`insert into ${table} (${names}) format JSONEachRow`, Buffer.from(text), {
      settings: {
        ...ONE_BLOCK,
        insert_deduplication_token: token,
      },
    })
  }
}

function keyOf({ scope, subject, workspaceId = NO_WORKSPACE }: Subject): SubjectRow {
  return { scope, subject, workspace: workspaceId }
}

function subjectOf({ scope, subject, workspace }: SubjectRow): Subject {
  return { scope, subject, workspaceId: workspace === NO_WORKSPACE ? undefined : workspace }
}

/** ClickHouse adds without regard to overflow, so a negative number is what it is modulo 2^64. */
function unsigned(value: number): number | string {
  return value < 0 ? String(BigInt.asUintN(64, BigInt(value))) : value
}

function countRows(day: number, { slots, ...subject }: SubjectCounted): object[] {
  return slots.map(({ slot, persons, others }) => ({
    ...keyOf(subject),
    day,
    slot,
    persons: unsigned(persons),
    others: unsigned(others),
  }))
}

/** The values that are stored, with their counts by quarter hour. */
function* storedValues({ values }: Counted) {
  for (const dimension of CLICK_DIMENSIONS) {
    const implied = impliedValue(dimension)
    for (const [value, slots] of values.get(dimension) ?? []) {
      if (value === implied) continue
      for (const { slot, ...counts } of slots) yield { dimension, value, slot, ...counts }
    }
  }
}

function valueRows(day: number, subject: SubjectCounted): object[] {
  return [...storedValues(subject)].map(({ persons, others, ...value }) => ({
    ...keyOf(subject),
    day,
    ...value,
    persons: unsigned(persons),
    others: unsigned(others),
  }))
}

function linkDayRows(day: number, { subject: link, ...counted }: SubjectCounted): object[] {
  const bySlot = Map.groupBy(storedValues(counted), ({ slot }) => slot)
  return [...bySlot].map(([slot, values]) => {
    const sorted = values.toSorted(
      (a, b) => compareTexts(a.dimension, b.dimension) || compareTexts(a.value, b.value),
    )
    return {
      link,
      folded: 0,
      day,
      slot,
      dimensions: sorted.map(({ dimension }) => dimension),
      values: sorted.map(({ value }) => value),
      persons: sorted.map(({ persons }) => unsigned(persons)),
      others: sorted.map(({ others }) => unsigned(others)),
    }
  })
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

function visitorRows(day: number, { visitors, ...subject }: SubjectCounted): object[] {
  if (visitors === 0) return []
  const known = unsigned(visitors ?? 0)
  return [{ ...keyOf(subject), folded: 0, day, are_unknown: visitors === null ? 1 : 0, known }]
}
