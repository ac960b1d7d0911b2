import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import { OPENING_DAY, startOfDay } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'
import { DAY_OF_CLICK, linkDaysOf, NO_WORKSPACE, ONE_BLOCK } from './schema.ts'

/** Clicks that one insert folds, about: some ten seconds, and a gigabyte of the server's memory, however many a day has. */
const CLICKS_PER_PART = 1_000_000

/**
 * What is recorded of a fold. Readers take a day from its sums as soon as it is `folded`, and no single clicks of folded
 * days until these are `deleted`. `late`: those that came after that are being added.
 */
type Step = 'begun' | 'folded' | 'deleted' | 'late'

type FoldState = {
  /** The day before which all days are folded. */
  readonly before: number
  /** The last step; empty for none. */
  readonly step: Step | ''
  /** The number of recorded steps of late clicks. */
  readonly late: number
}

/**
 * Folds the single clicks of days before `oldestDay` into sums of their links, and deletes them.
 *
 * Each insert has a token, so that the server drops what it has when a fold that was interrupted runs again, or two run at
 * the same time. A click that comes after its day was folded is a single click until the next fold.
 *
 * @param deleteBefore deletes single clicks
 */
export async function foldClicks(
  db: ClickHouse,
  oldestDay: number,
  deleteBefore: (micros: number) => Promise<void>,
): Promise<void> {
  const { before, step, late } = await readState(db)
  const deleteFolded = async (day: number, name?: string) => {
    await deleteBefore(startOfDay(day))
    await record(db, 'deleted', day, { name })
  }
  if (step === 'folded') await deleteFolded(before)
  // Readers leave these out until they are added, because two of these statements never take effect at once.
  const isAdding = step === 'late'
  if (isAdding || (step === 'deleted' && (await hasClicksBefore(db, before)))) {
    const name = `late ${isAdding ? late : late + 1}`
    if (!isAdding) await record(db, 'late', before, { name })
    await foldLate(db, before, name)
    await deleteFolded(before, `deleted ${name}`)
  }
  const days = await db.rows<{ readonly day: number; readonly clicks: number }>(
    `select ${DAY_OF_CLICK} as day, count() as clicks from clicks
    where at >= {from:Int64} and at < {to:Int64} group by day order by day`,
    { params: { from: startOfDay(before), to: startOfDay(oldestDay) } },
  )
  for (const { day, clicks } of days) await foldDay(db, day, clicks)
  const last = days.at(-1)
  if (last !== undefined) await deleteFolded(last.day + 1)
}

async function readState(db: ClickHouse): Promise<FoldState> {
  const [found] = await db.rows<{ folded: number; last: Step | ''; late: number }>(
    `select maxIf(before, step = 'folded') as folded, argMaxIf(step, (before, at), step != 'begun') as last,
      countIf(step = 'late') as late
    from click_folds`,
  )
  if (found === undefined || found.last === '') return { before: OPENING_DAY, step: '', late: 0 }
  return { before: found.folded, step: found.last, late: found.late }
}

async function hasClicksBefore(db: ClickHouse, day: number): Promise<boolean> {
  const found = await db.rows('select 1 from clicks where at < {to:Int64} limit 1', {
    params: { to: startOfDay(day) },
  })
  return found.length > 0
}

/** @param name identifies the step, so that it is recorded once */
async function record(
  db: ClickHouse,
  step: Step,
  before: number,
  { name, parts = 0 }: { readonly name?: string | undefined; readonly parts?: number } = {},
): Promise<void> {
  await db.command(
    `insert into click_folds (before, step, parts)
    select {before:Int32}, {step:String}, {parts:UInt32}`,
    { params: { before, step, parts }, settings: onceAs(name ?? `${step} ${before}`) },
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
      ? linkDaysOf(`clicks where count > 0 and ${where}`, folded)
      : `select toUInt8(${SCOPES.link}) as scope, link as subject,
          toUUID('${NO_WORKSPACE}') as workspace, toUInt8(${folded}) as folded, ${DAY_OF_CLICK} as day,
          uniqExactIf(visitor, visitor != 0) as known, max(visitor = 0) as are_unknown
        from clicks where flags = 0 and count > 0 and ${where}
        group by link, day`
  const columns =
    table === 'link_days'
      ? 'link, folded, day, slot, dimensions, values, persons, others'
      : 'scope, subject, workspace, folded, day, known, are_unknown'
  await db.command(`insert into ${table} (${columns}) ${query}`, { params, settings: onceAs(name) })
}

/** Adds clicks of days that were folded before they came. Their visitors count as further ones. */
async function foldLate(db: ClickHouse, before: number, name: string): Promise<void> {
  const clicks = {
    where: `at < {to:Int64} and link in (
      select subject from click_counts where scope = ${SCOPES.link} and day < {before:Int32})`,
    params: { to: startOfDay(before), before },
  }
  await foldInto(db, 'link_days', clicks, { folded: 0, name })
  await foldInto(db, 'click_visitors', clicks, { folded: 0, name })
}
