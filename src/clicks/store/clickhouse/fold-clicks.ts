import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import { startOfDay } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'
import { FOLDED_BEFORE, linkDaysOf, NO_WORKSPACE, ONE_BLOCK } from './schema.ts'

const DAY_MICROS = startOfDay(1)
/** Clicks that one insert folds, about: some seconds, and some hundred megabytes of the server's memory. */
const CLICKS_PER_PART = 1_000_000

const DAY = `toInt32(intDiv(at, ${DAY_MICROS}))`

/** The order in which a day is folded. Readers take the day from its sums as soon as it is `folded`. */
type Step = 'begun' | 'folded' | 'deleted' | 'late'

type FoldState = {
  /** The day before which all days are folded. */
  readonly before: number
  /** Whether the single clicks of those days were deleted, so that those which are there now came later. */
  readonly areDeleted: boolean
  /** The number of recorded steps. */
  readonly steps: number
}

/**
 * Folds the single clicks of days before `oldestDay` into sums of their links, or only those that came late if it is not
 * given. Calls `deleteBefore` for clicks that are folded.
 *
 * Each insert has a token, so that the server drops what it has when a fold that was interrupted runs again, or two run at
 * the same time. A click of a day that is being folded counts in its link's values only if it is there before its part is
 * folded; one that comes after the clicks of the day were deleted is late, and added by the next fold.
 */
export async function foldClicks(
  db: ClickHouse,
  oldestDay: number | undefined,
  deleteBefore: (micros: number) => Promise<void>,
): Promise<void> {
  const state = await readState(db)
  if (!state.areDeleted) await deleteFolded(db, state.before, deleteBefore)
  else await foldLate(db, state, deleteBefore)
  if (oldestDay === undefined) return
  const days = await db.rows<{ readonly day: number; readonly clicks: number }>(
    `select ${DAY} as day, count() as clicks from clicks
    where at >= {from:Int64} and at < {to:Int64} group by day order by day`,
    { params: { from: startOfDay(state.before), to: startOfDay(oldestDay) } },
  )
  for (const { day, clicks } of days) await foldDay(db, day, clicks)
  const last = days.at(-1)
  if (last !== undefined) await deleteFolded(db, last.day + 1, deleteBefore)
}

async function readState(db: ClickHouse): Promise<FoldState> {
  const [found] = await db.rows<{ folded: number; deleted: number; steps: number }>(
    `select maxIf(before, step = 'folded') as folded, maxIf(before, step = 'deleted') as deleted,
      count() as steps
    from click_folds`,
  )
  const { folded = 0, deleted = 0, steps = 0 } = found ?? {}
  return { before: folded, areDeleted: deleted === folded, steps }
}

/** @param name identifies the step, so that it is recorded once */
async function record(
  db: ClickHouse,
  step: Step,
  before: number,
  { name = `${step} ${before}`, parts = 0 } = {},
): Promise<void> {
  await db.command(
    `insert into click_folds (before, step, parts)
    select {before:Int32}, {step:String}, {parts:UInt32}`,
    { params: { before, step, parts }, settings: onceAs(name) },
  )
}

/** The server drops an insert of a name that it knows. */
function onceAs(name: string) {
  return { ...ONE_BLOCK, insert_deduplication_token: name }
}

async function foldDay(db: ClickHouse, day: number, clicks: number): Promise<void> {
  await record(db, 'begun', day + 1, { parts: Math.ceil(clicks / CLICKS_PER_PART) })
  // All that fold the day divide it as the first has done.
  const [begun] = await db.rows<{ readonly parts: number }>(
    `select parts from click_folds where step = 'begun' and before = {before:Int32}
    order by at limit 1`,
    { params: { before: day + 1 } },
  )
  const parts = begun?.parts ?? 1
  for (let part = 0; part < parts; part += 1) {
    const clicks = {
      where: `at >= {from:Int64} and at < {to:Int64} and link % {parts:UInt32} = {part:UInt32}
        and link in (
          select subject from click_counts where scope = ${SCOPES.link} and day = {day:Int32})`,
      params: { day, from: startOfDay(day), to: startOfDay(day + 1), part, parts },
    }
    const ofPart = (link: string) =>
      `folded = 1 and day = {day:Int32} and ${link} % {parts:UInt32} = {part:UInt32}`
    const name = `fold ${day} ${part}`
    await foldInto(db, 'link_days', clicks, { folded: 1, name, isThere: ofPart('link') })
    await foldInto(db, 'click_visitors', clicks, { folded: 1, name, isThere: ofPart('subject') })
  }
  await record(db, 'folded', day + 1)
}

type SomeClicks = {
  readonly where: string
  readonly params: Readonly<Record<string, unknown>>
}

type Into = {
  readonly folded: 0 | 1
  readonly name: string
  /** Finds rows of this insert, which the server may have forgotten. */
  readonly isThere?: string
}

async function foldInto(
  db: ClickHouse,
  table: 'link_days' | 'click_visitors',
  { where, params }: SomeClicks,
  { folded, name, isThere }: Into,
): Promise<void> {
  if (isThere !== undefined) {
    const ofLinks = table === 'click_visitors' ? `scope = ${SCOPES.link} and` : ''
    const found = await db.rows(`select 1 from ${table} where ${ofLinks} ${isThere} limit 1`, {
      params,
    })
    if (found.length > 0) return
  }
  const query =
    table === 'link_days'
      ? linkDaysOf(`clicks where ${where}`, folded)
      : `select toUInt8(${SCOPES.link}) as scope, link as subject,
          toUUID('${NO_WORKSPACE}') as workspace, toUInt8(${folded}) as folded, ${DAY} as day,
          uniqExactIf(visitor, visitor != 0) as known, max(visitor = 0) as are_unknown
        from clicks where flags = 0 and ${where}
        group by link, day`
  const columns =
    table === 'link_days'
      ? 'link, folded, day, slot, dimensions, values, persons, others'
      : 'scope, subject, workspace, folded, day, known, are_unknown'
  await db.command(`insert into ${table} (${columns}) ${query}`, { params, settings: onceAs(name) })
}

/** Removes the single clicks of folded days. */
async function deleteFolded(
  db: ClickHouse,
  before: number,
  deleteBefore: (micros: number) => Promise<void>,
): Promise<void> {
  await deleteBefore(startOfDay(before))
  await record(db, 'deleted', before)
}

/** Adds clicks of days that were folded before they came. Their visitors count as further ones. */
async function foldLate(
  db: ClickHouse,
  { before, steps }: FoldState,
  deleteBefore: (micros: number) => Promise<void>,
): Promise<void> {
  const to = startOfDay(before)
  const found = await db.rows('select 1 from clicks where at < {to:Int64} limit 1', {
    params: { to },
  })
  if (found.length === 0) return
  const clicks = {
    where: `at < {to:Int64} and link in (
      select subject from click_counts where scope = ${SCOPES.link} and day < ${FOLDED_BEFORE})`,
    params: { to },
  }
  // If it is interrupted before it is recorded, the next one has the same name.
  const name = `late ${steps}`
  await foldInto(db, 'link_days', clicks, { folded: 0, name })
  await foldInto(db, 'click_visitors', clicks, { folded: 0, name })
  await deleteBefore(to)
  await record(db, 'late', before, { name })
}
