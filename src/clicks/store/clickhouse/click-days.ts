import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import type { ClickDimension } from '../../click.ts'
import type {
  ClickScope,
  Counts,
  DayOfClicks,
  DayOptions,
  SlotCounts,
  Tally,
} from '../../report/day-of-clicks.ts'
import { startOfDay } from '../../tally/click-day.ts'
import { withoutValue } from '../../tally/day-format.ts'
import { OTHER_VALUE, valuesMax } from '../../tally/day-tally.ts'
import type { ValueTotals } from '../../tally/values.ts'
import type { ClickDays } from '../click-reports.ts'
import { SCOPES } from '../fold-days.ts'
import {
  COUNTED_SINCE,
  DAY_OF_CLICK,
  FOLDED_BEFORE,
  impliedValue,
  NO_WORKSPACE,
  SLOT_OF_CLICK,
} from './schema.ts'

const DAY_MICROS = startOfDay(1)
/** The most values of a dimension in the sum of many days; `OTHER_VALUE` has the clicks of all others. */
const TOTAL_VALUES_MAX = 10_000

const OF_SUBJECT =
  'scope = {scope:UInt8} and subject = {subject:UInt64} and workspace = {workspace:UUID}'
const OF_DAYS = 'day between {from:Int32} and {to:Int32}'
const SUMS = 'sum(persons) as persons, sum(others) as others'
/** The name of a ranked value, or of those with fewer clicks. */
const NAME = 'if(position <= {max:UInt32}, text, {other:String}) as name'

/** The single clicks of a link that are in no sum: neither folded nor moved. */
const OF_LINK = `workspace = {owner:UUID} and link = {subject:UInt64} and count > 0
  and at >= greatest({since:Int64}, ${COUNTED_SINCE} * ${DAY_MICROS}) and at < {until:Int64}`
/** Leaves out what an unfinished fold has written. */
const IS_READ = `and (folded = 0 or day < ${FOLDED_BEFORE})`

type Params = Readonly<Record<string, unknown>>
type CountRow = Counts & { readonly day: number; readonly slot: number }
type ValueRow = CountRow & { readonly name: string | null }
type VisitorRow = {
  readonly day: number
  readonly visitors: number
  readonly are_unknown: number
}

/** Reads days from the sums that ClickHouse keeps (schema.ts). Visitors are exact for few, otherwise within 2 %. */
export function clickHouseDays(db: ClickHouse): ClickDays {
  return {
    async readDays(scope, fromDay, toDay, options) {
      const { dimension, totals, slots } = options
      const params = {
        ...subjectOf(scope),
        from: fromDay,
        to: toDay,
        since: startOfDay(fromDay),
        until: startOfDay(toDay + 1),
      }
      const addsTotals = dimension !== undefined && totals !== undefined && !slots
      const [counts, visitors, values] = await Promise.all([
        readCounts(db, params, slots),
        readVisitors(db, scope, params),
        dimension === undefined || addsTotals
          ? []
          : readValues(db, scope, params, dimension, options),
        addsTotals ? addTotals(db, scope, params, dimension, totals) : undefined,
      ])
      const visitorsByDay = new Map(visitors.map((row) => [row.day, row]))
      const valuesByDay = Map.groupBy(values, ({ day }) => day)
      return [...Map.groupBy(counts, ({ day }) => day)].map(([day, rows]): DayOfClicks => {
        const total = tallyOf(rows, slots)
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

function readVisitors(db: ClickHouse, scope: ClickScope, params: Params): Promise<VisitorRow[]> {
  const stored = `
    select day, uniqCombined64Merge(12)(visitors) + sum(known) as found, max(are_unknown) as are_unknown
    from click_visitors where ${OF_SUBJECT} and ${OF_DAYS} ${scope.kind === 'link' ? IS_READ : ''}
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
      from clicks where ${OF_LINK} and flags = 0
      group by day)
    group by day`,
    { params },
  )
}

/** The values of a dimension, in rows that are to be added up. */
function storedValues(scope: ClickScope, dimension: ClickDimension): string {
  if (scope.kind !== 'link') {
    return `
      select day, slot, toString(value) as text, persons, others
      from click_values where ${OF_SUBJECT} and dimension = '${dimension}' and ${OF_DAYS}`
  }
  return `
      select ${DAY_OF_CLICK} as day, ${SLOT_OF_CLICK} as slot, toString(${dimension}) as text,
        sumIf(count, flags = 0) as persons, sumIf(count, flags != 0) as others
      from clicks where ${OF_LINK} and ${dimension} != '${impliedValue(dimension)}'
      group by day, slot, text
      union all
      select day, slot, text, counted.1 as persons, counted.2 as others
      from (
        select day, slot, arrayJoin(arrayFilter(entry -> entry.1 = '${dimension}',
          arrayZip(dimensions, values, persons, others))) as entry,
          entry.2 as text, (entry.3, entry.4) as counted
        from link_days where link = {subject:UInt64} and ${OF_DAYS} ${IS_READ})`
}

function ofValues(scope: ClickScope, dimension: ClickDimension, slots: boolean): string {
  return `select day, ${slotIf(slots)}, text, ${SUMS} from (${storedValues(scope, dimension)})
    group by day, slot, text`
}

/** Reads the values of days, ordered by quarter hours. What is in no row has the implied value. */
function readValues(
  db: ClickHouse,
  scope: ClickScope,
  params: Params,
  dimension: ClickDimension,
  { values: wanted, slots }: DayOptions,
): Promise<ValueRow[]> {
  const rows = ofValues(scope, dimension, slots)
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

/** Adds the values of all days together in the database. */
async function addTotals(
  db: ClickHouse,
  scope: ClickScope,
  params: Params,
  dimension: ClickDimension,
  totals: ValueTotals,
): Promise<void> {
  const ranked = `
    select text, persons, others,
      row_number() over (order by persons + others desc, text) as position
    from (
      select text, ${SUMS} from (${storedValues(scope, dimension)}) group by text)`
  const [values, [total]] = await Promise.all([
    db.rows<Counts & { readonly name: string }>(
      `select ${NAME}, ${SUMS} from (${ranked}) group by name`,
      { params: { ...params, max: TOTAL_VALUES_MAX, other: OTHER_VALUE } },
    ),
    db.rows<Counts>(`select ${SUMS} from click_counts where ${OF_SUBJECT} and ${OF_DAYS}`, {
      params,
    }),
  ])
  let persons = total?.persons ?? 0
  let others = total?.others ?? 0
  for (const value of values) {
    persons -= value.persons
    others -= value.others
    add(totals, value.name, value)
  }
  if (persons + others > 0) add(totals, impliedValue(dimension), { persons, others })
}

function add(totals: ValueTotals, value: string, { persons, others }: Counts): void {
  const bytes = Buffer.from(value)
  totals.add(bytes, 0, bytes.length, persons, others)
}

function tallyOf(rows: readonly CountRow[], slots: boolean): Tally {
  let persons = 0
  let others = 0
  for (const row of rows) {
    persons += row.persons
    others += row.others
  }
  return { persons, others, slots: slots ? rows.map(slotCounts) : NO_SLOTS }
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
