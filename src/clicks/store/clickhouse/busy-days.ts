import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import { OPENING_DAY, startOfDay } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'
import { deleteFrom } from './erase-clicks.ts'
import { DAY_OF_CLICK, IS_READ, NO_WORKSPACE, SINGLE_CLICKS, VALUE_PAIRS } from './schema.ts'

/** A day with fewer clicks is read faster than its sums would be worth. */
const CLICKS_MIN = 500
/** Bound the time and memory of one insert. It takes several days where they have few clicks: most of it is the search. */
const DAYS_PER_INSERT = 8
const CLICKS_PER_INSERT = 5_000_000
const LINKS_PER_INSERT = 1_000
/** The time that one run may take, about. */
const RUN_MS = 10_000
/** Every subject with sums of a day has a row of each dimension. */
export const ANY_DIMENSION = CLICK_DIMENSIONS[0]

const OF_DAYS = 'day in {days:Array(Int32)}'

type Params = Readonly<Record<string, unknown>>
type Subject = { readonly scope: number; readonly subject: number; readonly workspace: string }

/**
 * Adds up the values and visitors of links, domains and workspaces that had many clicks on a day, so that a chart of a year
 * need not read each click and quarter hour. Sums are read while their `clicks` are what is counted for the day, so late
 * clicks only make a day slow until it is added up again. Days before `today` that ended an hour ago are, the latest first.
 * What a run has no time for is left to the next one.
 */
export async function sumBusyDays(
  db: ClickHouse,
  today: number,
  signal?: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + RUN_MS
  for (const days of inGroups(await staleDays(db, today))) {
    if (signal?.aborted || performance.now() > endsAt) return
    const subjects = await staleSubjects(db, days)
    const links = subjects.filter(({ scope }) => scope === SCOPES.link)
    for (let first = 0; first < links.length; first += LINKS_PER_INSERT) {
      await sumLinks(db, days, links.slice(first, first + LINKS_PER_INSERT))
    }
    // Last, because a day is stale while its workspaces are.
    const workspaces = new Set(subjects.map(({ workspace }) => workspace))
    workspaces.delete(NO_WORKSPACE)
    if (workspaces.size > 0) await sumWorkspaces(db, days, [...workspaces])
  }
}

type StaleDay = { readonly day: number; readonly sum: number }

function* inGroups(stale: readonly StaleDay[]): Generator<readonly number[]> {
  let days: number[] = []
  let clicks = 0
  for (const { day, sum } of stale) {
    days.push(day)
    clicks += sum
    if (days.length < DAYS_PER_INSERT && clicks < CLICKS_PER_INSERT) continue
    yield days
    days = []
    clicks = 0
  }
  if (days.length > 0) yield days
}

function staleDays(db: ClickHouse, today: number): Promise<StaleDay[]> {
  return db.rows(
    `select day, sum(clicks) as sum
    from (
      select workspace, day, sum(persons) + sum(others) as clicks from click_counts
      where scope = ${SCOPES.workspace} and day > ${OPENING_DAY} and day < {today:Int32}
        and day < intDiv(toUnixTimestamp(now()) - 3600, 86400)
      group by workspace, day having clicks >= ${CLICKS_MIN}) as counted
    left anti join (
      select workspace, day, clicks from busy_days
      where scope = ${SCOPES.workspace} and dimension = '${ANY_DIMENSION}') as summed
    using (workspace, day, clicks)
    group by day order by day desc`,
    { params: { today } },
  )
}

function staleSubjects(db: ClickHouse, days: readonly number[]): Promise<Subject[]> {
  return db.rows(
    `select distinct scope, subject, workspace
    from (
      select scope, subject, workspace, day, sum(persons) + sum(others) as clicks from click_counts
      where ${OF_DAYS}
      group by scope, subject, workspace, day having clicks >= ${CLICKS_MIN}) as counted
    left anti join (
      select scope, subject, workspace, day, clicks from busy_days
      where ${OF_DAYS} and dimension = '${ANY_DIMENSION}') as summed
    using (scope, subject, workspace, day, clicks)
    order by scope, workspace, subject`,
    { params: { days } },
  )
}

const EACH_DIMENSION = `arrayJoin([${CLICK_DIMENSIONS.map((name) => `'${name}'`).join(', ')}]) as dimension`
const NO_VALUE = `0 as is_value, '' as value, 0 as persons, 0 as others`
const NO_COUNT = '0 as clicks, 0 as singles, 0 as visitors, 0 as are_unknown'
const VISITORS =
  'uniqCombined64Merge(12)(visitors) + sum(known) as found, max(are_unknown) as are_unknown'
const KEY = 'scope, subject, workspace, day'

/** Writes the sums of subjects on some days. `singles` are those of a link's clicks that are read from single clicks. */
async function insertSums(
  db: ClickHouse,
  { wanted, values, params }: { wanted: string; values: readonly string[]; params: Params },
): Promise<void> {
  const parts = [
    `select ${KEY}, ${EACH_DIMENSION}, ${NO_VALUE},
      counted as clicks, 0 as singles, 0 as visitors, 0 as are_unknown
    from (
      select ${KEY}, sum(persons) + sum(others) as counted from click_counts
      where ${OF_DAYS} and ${wanted} group by ${KEY})`,
    `select ${KEY}, ${EACH_DIMENSION}, ${NO_VALUE},
      0 as clicks, 0 as singles, found as visitors, are_unknown
    from (
      select ${KEY}, ${VISITORS} from click_visitors
      where ${OF_DAYS} and ${wanted} ${IS_READ} group by ${KEY})`,
    ...values,
  ]
  await db.command(
    `insert into busy_days (${KEY}, dimension, clicks, visitors, are_unknown, values, persons, others)
    select ${KEY}, dimension, counted, visitors, are_unknown, sums.1, sums.2, sums.3
    from (
      select ${KEY}, dimension, sum(clicks) as counted, sum(visitors) as visitors,
        max(are_unknown) as are_unknown,
        arraySort(groupArrayIf((value, persons, others), is_value = 1)) as sums
      from (${parts.join('\nunion all\n')})
      group by ${KEY}, dimension
      having counted >= ${CLICKS_MIN} and sum(singles) in (0, counted))`,
    { params },
  )
  await forgetErased(db, wanted, params)
}

/** A link some of whose clicks came after the others were folded or moved has no sums. */
function sumLinks(
  db: ClickHouse,
  days: readonly number[],
  subjects: readonly Subject[],
): Promise<void> {
  const links = subjects.map(({ subject }) => subject)
  const ofLink = `toUInt8(${SCOPES.link}) as scope, link as subject, toUUID('${NO_WORKSPACE}') as workspace, day`
  const singles = `(
      select ${DAY_OF_CLICK} as day, * from clicks
      where at >= {from:Int64} and at < {to:Int64} and ${OF_DAYS}
        and link in {links:Array(UInt64)} and ${SINGLE_CLICKS})`
  return insertSums(db, {
    wanted: `scope = ${SCOPES.link} and subject in {links:Array(UInt64)}`,
    values: [
      `select ${ofLink}, ${EACH_DIMENSION}, ${NO_VALUE}, 0 as clicks, singles, found as visitors, are_unknown
      from (
        select link, day, sum(count) as singles, uniqExactIf(visitor, flags = 0 and visitor != 0) as found,
          maxIf(visitor = 0, flags = 0) as are_unknown
        from ${singles} group by link, day)`,
      `select ${ofLink}, pair.1 as dimension, 1 as is_value, pair.2 as value,
        sumIf(count, flags = 0) as persons, sumIf(count, flags != 0) as others, ${NO_COUNT}
      from (select link, day, flags, count, arrayJoin(${VALUE_PAIRS}) as pair from ${singles})
      group by link, day, pair`,
      `select ${ofLink}, entry.1 as dimension, 1 as is_value, entry.2 as value,
        sum(entry.3) as persons, sum(entry.4) as others, ${NO_COUNT}
      from (
        select link, day, arrayJoin(arrayZip(dimensions, values, persons, others)) as entry from link_days
        where link in {links:Array(UInt64)} and ${OF_DAYS} ${IS_READ})
      group by link, day, dimension, value`,
    ],
    params: {
      days,
      links,
      from: startOfDay(Math.min(...days)),
      to: startOfDay(Math.max(...days) + 1),
    },
  })
}

function sumWorkspaces(
  db: ClickHouse,
  days: readonly number[],
  workspaces: readonly string[],
): Promise<void> {
  const scopes = `scope in (${SCOPES.domain}, ${SCOPES.workspace})`
  const wanted = `${scopes} and workspace in {workspaces:Array(UUID)}`
  return insertSums(db, {
    wanted,
    values: [
      `select ${KEY}, toString(dimension) as dimension, 1 as is_value, toString(value) as value,
        sum(persons) as persons, sum(others) as others, ${NO_COUNT}
      from click_values where ${OF_DAYS} and ${wanted}
      group by ${KEY}, dimension, value`,
    ],
    params: { days, workspaces },
  })
}

/** Deletes the sums of what was erased while they were made: it is not counted any more. */
async function forgetErased(db: ClickHouse, wanted: string, params: Params): Promise<void> {
  const subjectsIn = async (table: string) => {
    const rows = await db.rows<Subject>(
      `select distinct scope, subject, workspace from ${table} where ${OF_DAYS} and ${wanted}`,
      { params },
    )
    return new Map(rows.map((row) => [`${row.scope} ${row.subject} ${row.workspace}`, row]))
  }
  const summed = await subjectsIn('busy_days')
  const counted = await subjectsIn('click_counts')
  for (const [name, subject] of summed) {
    if (counted.has(name)) continue
    await deleteFrom(
      db,
      ['busy_days'],
      'scope = {scope:UInt8} and subject = {subject:UInt64} and workspace = {workspace:UUID}',
      subject,
    )
  }
}
