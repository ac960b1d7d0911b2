import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import type { ClickDimension } from '../../click.ts'
import {
  type ClickScope,
  type Counts,
  type DayOfClicks,
  type DayOptions,
  type SlotCounts,
  sumCounts,
  type Tally,
} from '../../report/day-of-clicks.ts'
import { startOfDay } from '../../tally/click-day.ts'
import { withoutValue } from '../../tally/day-format.ts'
import { OTHER_VALUE, valuesMax } from '../../tally/day-tally.ts'
import type { ValueTotals } from '../../tally/values.ts'
import type { ClickDays } from '../click-reports.ts'
import { SCOPES } from '../fold-days.ts'
import { ANY_DIMENSION } from './busy-days.ts'
import {
  DAY_OF_CLICK,
  IS_READ,
  impliedValue,
  NO_WORKSPACE,
  SINGLE_CLICKS,
  SLOT_OF_CLICK,
} from './schema.ts'

/** The most values of a dimension in the sum of many days; `OTHER_VALUE` has the clicks of all others. */
const TOTAL_VALUES_MAX = 10_000

const OF_SUBJECT =
  'scope = {scope:UInt8} and subject = {subject:UInt64} and workspace = {workspace:UUID}'
const OF_DAYS = 'day between {from:Int32} and {to:Int32}'
const SUMS = 'sum(persons) as persons, sum(others) as others'
/** The name of a ranked value, or of those with fewer clicks. */
const NAME = 'if(position <= {max:UInt32}, text, {other:String}) as name'

type Params = Readonly<Record<string, unknown>>
type CountRow = Counts & { readonly day: number; readonly slot: number }
type ValueRow = CountRow & { readonly name: string | null }
type VisitorRow = {
  readonly day: number
  readonly visitors: number
  readonly are_unknown: number
}
/** A day whose sums may be older than its counts. */
type SummedDay = VisitorRow & { readonly clicks: number }

/** Where the values and visitors of days with clicks are read. */
type ReadDays = {
  /** Those whose sums by value are kept. */
  readonly summed: readonly SummedDay[]
  /** All others, as runs between those: on other days nothing was counted. */
  readonly runs: readonly DayRun[]
}
type DayRun = readonly [first: number, last: number]

/**
 * Reads days from the sums that ClickHouse keeps (schema.ts). Visitors are exact for few, otherwise an estimate with a
 * standard error of 1.6 %.
 */
export function clickHouseDays(db: ClickHouse): ClickDays {
  return {
    // The server adds values up, so a row is one that is shown.
    daysPerRead: { total: 366, values: 366, valuesWithSlots: 7 },

    async readDays(scope, fromDay, toDay, options) {
      const { dimension, totals, slots } = options
      const params = { ...subjectOf(scope), from: fromDay, to: toDay }
      const [counts, sums] = await Promise.all([
        readCounts(db, params, slots),
        slots ? [] : readSummedDays(db, params, dimension),
      ])
      const counted = [...Map.groupBy(counts, ({ day }) => day)].map(
        ([day, rows]) => [day, tallyOf(rows, slots)] as const,
      )
      const days = divide(counted, sums)
      const asked = { db, scope, params, days }
      const addsTotals = dimension !== undefined && totals !== undefined && !slots
      const [visitors, values] = await Promise.all([
        readVisitors(asked),
        dimension === undefined || counted.length === 0
          ? []
          : addsTotals
            ? addTotals(asked, dimension, counted, totals)
            : readValues(asked, dimension, options),
      ])
      const visitorsByDay = new Map([...days.summed, ...visitors].map((row) => [row.day, row]))
      const valuesByDay = Map.groupBy(values, ({ day }) => day)
      return counted.map(([day, total]): DayOfClicks => {
        const found = visitorsByDay.get(day)
        return {
          day,
          total,
          visitors: found?.are_unknown ? null : (found?.visitors ?? 0),
          values:
            dimension === undefined || addsTotals
              ? new Map()
              : valuesOf(total, valuesByDay.get(day) ?? [], dimension, options),
        }
      })
    },

    async readDaysOfLinks(linkSeqs, wanted) {
      const { slots } = wanted
      const isAmong = 'days' in wanted ? 'day in {days:Array(Int32)}' : OF_DAYS
      const days =
        'days' in wanted ? { days: wanted.days } : { from: wanted.fromDay, to: wanted.toDay }
      const rows = await db.rows<CountRow & { readonly subject: number }>(
        `select subject, day, ${slotIf(slots)}, ${SUMS} from click_counts
        where scope = ${SCOPES.link} and subject in {subjects:Array(UInt64)}
          and workspace = '${NO_WORKSPACE}' and ${isAmong}
        group by subject, day, slot order by day, slot`,
        { params: { subjects: linkSeqs, ...days } },
      )
      const dayOf = ([day, ofDay]: [number, readonly CountRow[]]): DayOfClicks => {
        return { day, total: tallyOf(ofDay, slots), visitors: null, values: new Map() }
      }
      return new Map(
        [...Map.groupBy(rows, ({ subject }) => subject)].map(([linkSeq, ofLink]) => [
          linkSeq,
          [...Map.groupBy(ofLink, ({ day }) => day)].map(dayOf),
        ]),
      )
    },

    async daysWithClicks(scope, fromDay, toDay) {
      const rows = await db.rows<{ readonly day: number }>(
        `select distinct day from click_counts where ${OF_SUBJECT} and ${OF_DAYS} order by day`,
        { params: { ...subjectOf(scope), from: fromDay, to: toDay } },
      )
      return rows.map(({ day }) => day)
    },
  }
}

function subjectOf(scope: ClickScope): Params {
  if (scope.kind === 'link') {
    const { linkSeq: subject, workspaceId: owner } = scope
    return { scope: SCOPES.link, subject, workspace: NO_WORKSPACE, owner }
  }
  const { workspaceId: workspace } = scope
  return scope.kind === 'domain'
    ? { scope: SCOPES.domain, subject: scope.keyspaceId, workspace }
    : { scope: SCOPES.workspace, subject: 0, workspace }
}

function slotIf(slots: boolean): string {
  return slots ? 'slot' : '0 as slot'
}

function readCounts(db: ClickHouse, params: Params, slots: boolean): Promise<CountRow[]> {
  return db.rows(
    `select day, ${slotIf(slots)}, ${SUMS} from click_counts where ${OF_SUBJECT} and ${OF_DAYS}
    group by day, slot order by day, slot`,
    { params },
  )
}

function readSummedDays(
  db: ClickHouse,
  params: Params,
  dimension: ClickDimension = ANY_DIMENSION,
): Promise<SummedDay[]> {
  return db.rows(
    `select day, clicks, visitors, are_unknown from busy_days
    where ${OF_SUBJECT} and dimension = {dimension:String} and ${OF_DAYS}`,
    { params: { ...params, dimension } },
  )
}

/** @param counted ascending */
function divide(
  counted: readonly (readonly [day: number, total: Counts])[],
  sums: readonly SummedDay[],
): ReadDays {
  const found = Map.groupBy(sums, ({ day }) => day)
  const summed: SummedDay[] = []
  const runs: [first: number, last: number][] = []
  let isNew = true
  for (const [day, { persons, others }] of counted) {
    const ofDay = found.get(day)?.find(({ clicks }) => clicks === persons + others)
    if (ofDay !== undefined) summed.push(ofDay)
    else if (isNew) runs.push([day, day])
    else runs.at(-1)?.splice(1, 1, day)
    isNew = ofDay !== undefined
  }
  return { summed, runs }
}

/** The condition for days of these runs. */
function ofRuns(runs: readonly DayRun[]): string {
  return `(${runs.map(([first, last]) => `day between ${first} and ${last}`).join(' or ')})`
}

/** The single clicks of a link that are in no sum, on days of these runs. */
function singlesOf(runs: readonly DayRun[]): string {
  const isWithin = runs.map(
    ([first, last]) => `at >= ${startOfDay(first)} and at < ${startOfDay(last + 1)}`,
  )
  return `workspace = {owner:UUID} and link = {subject:UInt64} and (${isWithin.join(' or ')}) and ${SINGLE_CLICKS}`
}

/** What is asked of a subject. */
type Asked = {
  readonly db: ClickHouse
  readonly scope: ClickScope
  readonly params: Params
  readonly days: ReadDays
}

async function readVisitors({
  db,
  scope,
  params,
  days: { runs },
}: Asked): Promise<readonly VisitorRow[]> {
  if (runs.length === 0) return []
  const stored = `
    select day, uniqCombined64Merge(12)(visitors) + sum(known) as found, max(are_unknown) as are_unknown
    from click_visitors where ${OF_SUBJECT} and ${ofRuns(runs)} ${IS_READ}
    group by day`
  if (scope.kind !== 'link') {
    return db.rows(`select day, found as visitors, are_unknown from (${stored})`, { params })
  }
  return db.rows(
    `select day, sum(found) as visitors, max(are_unknown) as are_unknown
    from (
      ${stored}
      union all
      select ${DAY_OF_CLICK} as day, uniqExactIf(visitor, visitor != 0) as found, max(visitor = 0) as are_unknown
      from clicks where ${singlesOf(runs)} and flags = 0
      group by day)
    group by day`,
    { params },
  )
}

/** What the rows of values are of: all days together, each day, or each quarter hour. */
type Precision = 'all' | 'days' | 'slots'

/** The values of a dimension, in rows that are to be added up. */
function storedValues(
  { scope, days: { summed, runs } }: Asked,
  dimension: ClickDimension,
  precision: Precision,
): string {
  const parts: string[] = []
  if (summed.length > 0) parts.push(summedValues(summed, dimension))
  const keysOf = (day: string, slot: string) =>
    `${precision === 'all' ? '0' : day} as day, ${precision === 'slots' ? slot : '0'} as slot`
  if (runs.length > 0 && scope.kind !== 'link') {
    parts.push(`
      select ${keysOf('of_day', 'of_slot')}, toString(value) as text, ${SUMS}
      from (
        select day as of_day, slot as of_slot, value, persons, others from click_values
        where ${OF_SUBJECT} and dimension = '${dimension}' and ${ofRuns(runs)})
      group by day, slot, value`)
  } else if (runs.length > 0) {
    parts.push(
      `
      select ${keysOf(DAY_OF_CLICK, SLOT_OF_CLICK)}, toString(${dimension}) as text,
        sumIf(count, flags = 0) as persons, sumIf(count, flags != 0) as others
      from clicks where ${singlesOf(runs)} and ${dimension} != '${impliedValue(dimension)}'
      group by day, slot, ${dimension}`,
      `
      select day, slot, text, counted.1 as persons, counted.2 as others
      from (
        select day, slot, arrayJoin(arrayFilter(entry -> entry.1 = '${dimension}',
          arrayZip(dimensions, values, persons, others))) as entry,
          entry.2 as text, (entry.3, entry.4) as counted
        from link_days where link = {subject:UInt64} and ${ofRuns(runs)} ${IS_READ})`,
    )
  }
  return parts.join('\n      union all')
}

function summedValues(summed: readonly SummedDay[], dimension: ClickDimension): string {
  // A constant array costs less to parse than a tuple for each day.
  const days = summed.map(({ day }) => day).join(', ')
  const clicks = summed.map((ofDay) => ofDay.clicks).join(', ')
  return `
      select day, 0 as slot, text, persons, others
      from (
        select day, values, persons, others from busy_days
        where ${OF_SUBJECT} and dimension = '${dimension}' and ${OF_DAYS}
          and clicks = transform(day, [${days}], [${clicks}], 0) limit 1 by day)
      array join values as text, persons as persons, others as others`
}

/** Reads the values of days, ordered by quarter hours. What is in no row has the implied value. */
function readValues(
  asked: Asked,
  dimension: ClickDimension,
  { values: wanted, slots }: DayOptions,
): Promise<ValueRow[]> {
  const { db, params } = asked
  const rows = `select day, ${slotIf(slots)}, text, ${SUMS} from (${storedValues(asked, dimension, slots ? 'slots' : 'days')})
    group by day, slot, text`
  if (wanted !== undefined && !wanted.has(OTHER_VALUE)) {
    // The sum of the other values is needed only where it says how many clicks have the implied one.
    const isAmong = 'has({wanted:Array(String)}, text)'
    const isRestNeeded = wanted.has(impliedValue(dimension))
    return db.rows(
      `select day, slot, if(${isAmong}, toNullable(text), null) as name, ${SUMS}
      from (${rows}) ${isRestNeeded ? '' : `where ${isAmong}`}
      group by day, slot, name order by slot`,
      { params: { ...params, wanted: [...wanted] } },
    )
  }
  const ranked = `
    select day, slot, text, persons, others,
      dense_rank() over (partition by day order by weight desc, text) as position
    from (
      select *, sum(persons + others) over (partition by day, text) as weight
      from (${rows}))`
  return db.rows(
    `select day, slot, ${NAME}, ${SUMS} from (${ranked}) group by day, slot, name order by slot`,
    { params: { ...params, max: valuesMax(dimension), other: OTHER_VALUE } },
  )
}

/** Adds the values of all days together in the database, so that no row is left to read. */
async function addTotals(
  asked: Asked,
  dimension: ClickDimension,
  counted: readonly (readonly [day: number, total: Counts])[],
  totals: ValueTotals,
): Promise<readonly ValueRow[]> {
  const ranked = `
    select text, persons, others,
      row_number() over (order by persons + others desc, text) as position
    from (
      select text, ${SUMS} from (${storedValues(asked, dimension, 'all')}) group by text)`
  const values = await asked.db.rows<Counts & { readonly name: string }>(
    `select ${NAME}, ${SUMS} from (${ranked}) group by name`,
    { params: { ...asked.params, max: TOTAL_VALUES_MAX, other: OTHER_VALUE } },
  )
  let { persons, others } = sumCounts(counted.map(([, total]) => total))
  for (const value of values) {
    persons -= value.persons
    others -= value.others
    add(totals, value.name, value)
  }
  if (persons + others > 0) add(totals, impliedValue(dimension), { persons, others })
  return []
}

function add(totals: ValueTotals, value: string, { persons, others }: Counts): void {
  const bytes = Buffer.from(value)
  totals.add(bytes, 0, bytes.length, persons, others)
}

function tallyOf(rows: readonly CountRow[], slots: boolean): Tally {
  return { ...sumCounts(rows), slots: slots ? rows.map(slotCounts) : NO_SLOTS }
}

function slotCounts({ slot, persons, others }: CountRow): SlotCounts {
  return { slot, persons, others }
}

/** Shared by all tallies that are read without slots, because there are many. */
const NO_SLOTS: Tally['slots'] = []

function valuesOf(
  total: Tally,
  rows: readonly ValueRow[],
  dimension: ClickDimension,
  { values: wanted, slots }: DayOptions,
): ReadonlyMap<string, Tally> {
  const tallies = [...Map.groupBy(rows, ({ name }) => name)].map(
    ([name, ofValue]) => [name, tallyOf(ofValue, slots)] as const,
  )
  const values = new Map<string, Tally>()
  for (const [name, tally] of tallies) {
    if (name !== null && wanted?.has(name) !== false) values.set(name, tally)
  }
  const implied = impliedValue(dimension)
  if (wanted?.has(implied) !== false) {
    const without = withoutValue(
      total,
      tallies.map(([, tally]) => tally),
    )
    if (without !== undefined) values.set(implied, without)
  }
  return values
}
