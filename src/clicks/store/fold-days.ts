import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { CLICK_DIMENSIONS, type ClickDimension } from '../click.ts'
import { DayTally } from '../tally/day-tally.ts'
import type { ClickRows, DayKey, DayPart, DayRow, GrownDay } from './click-day-rows.ts'

/** The values of `click_days.part`: what a row holds. */
export const PARTS = {
  /** Chunks: the whole day while it is small, otherwise the clicks that are not in the other parts yet. */
  recent: 0,
  total: 1,
  visitors: 2,
  sums: (dimension: ClickDimension) => 3 + CLICK_DIMENSIONS.indexOf(dimension),
  slots: (dimension: ClickDimension) =>
    3 + CLICK_DIMENSIONS.length + CLICK_DIMENSIONS.indexOf(dimension),
}

/** A larger day is split into parts. */
const WHOLE_BYTES_MAX = 4_096
/** The recent part of a split day may have at most this share of the other parts' bytes. */
const RECENT_SHARE_MAX = 1 / 8
/** Days in memory at a time. PostgreSQL reads and writes them in one statement each. */
const DAYS_PER_STEP = 64

/** The tables, within one transaction. */
type Transaction = { readonly db: Kysely<Schema>; readonly rows: ClickRows }

/** Folds days that have grown. The transaction must hold the locks of their recent rows. */
export async function foldDays(tx: Transaction, days: readonly GrownDay[]): Promise<void> {
  for (let start = 0; start < days.length; start += DAYS_PER_STEP) {
    await foldStep(tx, days.slice(start, start + DAYS_PER_STEP), fitsRecent)
  }
}

/** Merges the recent part of past days into the other parts, so that readers need not do so. */
export async function settleDays(tx: Transaction, keys: readonly DayKey[]): Promise<void> {
  for (const key of keys) {
    // Locks the row on both engines: no other transaction can append to it until this one ends.
    await tx.db
      .updateTable('click_days')
      .set((eb) => ({ folded: eb.ref('folded') }))
      .where((eb) => eb.and({ ...key, part: PARTS.recent }))
      .execute()
  }
  const days = keys.map((key) => ({ ...key, parts: 1 }))
  await foldStep(tx, days, ({ length }) => length === 0)
  for (const key of keys) {
    await tx.db
      .deleteFrom('unsettled_days')
      .where((eb) => eb.and(key))
      .execute()
  }
}

/** Whether a folded day may stay in its recent part. */
function fitsRecent({ length }: Uint8Array, { parts }: GrownDay): boolean {
  return length <= Math.max(WHOLE_BYTES_MAX, parts * RECENT_SHARE_MAX)
}

async function foldStep(
  { db, rows }: Transaction,
  days: readonly GrownDay[],
  staysRecent: (folded: Uint8Array, day: GrownDay) => boolean,
): Promise<void> {
  const recent = byName(await rows.readDays(days, 'recent'))
  const written: DayRow[] = []
  const split: { day: GrownDay; folded: Uint8Array }[] = []
  for (const day of days) {
    const chunks = recent.get(nameOf(day))?.[0]?.data ?? NO_BYTES
    tally.clear()
    tally.addChunks(chunks)
    const folded = chunks.length > 0 ? tally.take() : NO_BYTES
    if (!staysRecent(folded, day)) split.push({ day, folded })
    else if (folded.length > 0) written.push(recentRow(day, folded, day.parts))
  }

  const grownSplit = split.filter(({ day }) => day.parts > 0).map(({ day }) => day)
  const others = byName(grownSplit.length === 0 ? [] : await rows.readDays(grownSplit, 'others'))
  for (const { day, folded } of split) {
    tally.clear()
    tally.addChunks(folded)
    if (day.parts > 0) addParts(others.get(nameOf(day)) ?? [])
    const parts = encodeParts(tally)
    const bytes = parts.reduce((sum, { data }) => sum + data.length, 0)
    written.push(recentRow(day, NO_BYTES, bytes))
    for (const part of parts) written.push({ ...keyOf(day), ...part, folded: 0, parts: 0 })
  }
  if (written.length > 0) await rows.writeDays(written)

  const unsettled = split.filter(({ day }) => day.parts === 0).map(({ day }) => keyOf(day))
  if (unsettled.length === 0) return
  await db
    .insertInto('unsettled_days')
    .values(unsettled)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const NO_BYTES = new Uint8Array(0)
/**
 * Shared scratch: cleared before each use, since a failed day may leave something, and never held
 * across an `await`.
 */
const tally = new DayTally()

function keyOf({ day, scope, subject, workspace_id }: DayKey): DayKey {
  return { day, scope, subject, workspace_id }
}

function recentRow(day: DayKey, data: Uint8Array, parts: number): DayRow {
  return { ...keyOf(day), part: PARTS.recent, folded: data.length, parts, data }
}

function nameOf({ day, scope, subject, workspace_id }: DayKey): string {
  return `${day} ${scope} ${subject} ${workspace_id}`
}

function byName(parts: readonly DayPart[]): ReadonlyMap<string, readonly DayPart[]> {
  return Map.groupBy(parts, nameOf)
}

function addParts(rows: readonly DayPart[]): void {
  const parts = new Map(rows.map(({ part, data }) => [part, data]))
  const partOf = (part: number) => {
    const data = parts.get(part)
    if (data === undefined) throw new Error(`part ${part} of a click day is missing`)
    return data
  }
  tally.addTotal(partOf(PARTS.total), true)
  tally.addVisitors(partOf(PARTS.visitors))
  for (const dimension of CLICK_DIMENSIONS) {
    tally.addValues(dimension, partOf(PARTS.slots(dimension)), true)
  }
}

/** Encodes every part of a day except the recent one. */
export function encodeParts(tally: DayTally): { part: number; data: Uint8Array }[] {
  return [
    { part: PARTS.total, data: tally.totalPart() },
    { part: PARTS.visitors, data: tally.visitorsPart() },
    ...CLICK_DIMENSIONS.flatMap((dimension) => [
      { part: PARTS.sums(dimension), data: tally.valuesPart(dimension, false) },
      { part: PARTS.slots(dimension), data: tally.valuesPart(dimension, true) },
    ]),
  ]
}
