import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import {
  CLICK_DIMENSIONS,
  type ClickDimension,
  SPARSE_DIMENSIONS,
  VISITOR_DIMENSIONS,
} from '../click.ts'
import { DayTally } from '../tally/day-tally.ts'

/** The values of `click_days.scope`. */
export const SCOPES = { link: 0, domain: 1, workspace: 2 } as const
/** Indexed by those numbers. */
export const SCOPE_KINDS = ['link', 'domain', 'workspace'] as const

/** Identifies a subject (link, domain or workspace) and a UTC day. */
type DayKey = {
  readonly day: number
  readonly scope: number
  /** The link's number, the domain's keyspace, or `workspaceNumber`, which spreads over shards. */
  readonly subject: number
  /** Empty for a link, whose number is unique by itself: most rows are of links, so this saves space. */
  readonly workspace_id: string
}

/** Chunks to append to a stored day (clicks/tally/day-format.ts). */
export type DayDelta = DayKey & { readonly data: Uint8Array }

/** A day that has grown enough to be folded. */
export type GrownDay = DayKey & { readonly parts: number }

/** A row of a day (fold-days.ts describes the parts). */
export type DayRow = DayKey & {
  readonly part: number
  readonly folded: number
  readonly parts: number
  readonly data: Uint8Array
}

/** What is added to a link's counters. */
export type LinkCount = {
  readonly link_seq: number
  readonly clicks: number
  readonly last_click: number
}

export type DayPart = DayKey & Pick<DayRow, 'part' | 'data'>

/** Bulk operations whose SQL differs between the engines. */
export type ClickRows = {
  /** `counts` must be in link order, so that concurrent writers cannot deadlock. */
  addToLinks(counts: Iterable<LinkCount>): Promise<void>
  /**
   * `deltas` must be in key order, each key once. The data of a delta is valid until the next one is read. Returns days
   * to fold; SQLite returns some of them only at a later append.
   */
  appendToDays(deltas: Iterable<DayDelta>): Promise<readonly GrownDay[]>
  /** Reads the recent parts of days, or all other parts. */
  readDays(keys: readonly DayKey[], which: 'recent' | 'others'): Promise<readonly DayPart[]>
  /** Inserts or replaces rows. */
  writeDays(rows: readonly DayRow[]): Promise<void>
}

/**
 * A day may be folded once the appended bytes exceed this and the size after the last fold. So each byte of a day
 * is rewritten only a few times.
 */
export const FOLD_BYTES_MIN = 2_048

/** Lists the days with counts, ascending, by one look-up each. */
export const COUNTED_DAYS = `
  with recursive days (day) as (
    select min(day) from click_days
    union all
    select (select min(day) from click_days where click_days.day > days.day) from days
      where day is not null
  ) select day from days where day is not null`

/** Compares by the order in which every writer locks rows. */
export function compareKeys(a: DayKey, b: DayKey): number {
  return (
    a.day - b.day ||
    a.scope - b.scope ||
    a.subject - b.subject ||
    (a.workspace_id < b.workspace_id ? -1 : Number(a.workspace_id > b.workspace_id))
  )
}

/** The values of `click_days.part`: what a row holds. */
export const PARTS = {
  /** Chunks: the whole day while it is small, otherwise the clicks that are not in the other parts yet. */
  recent: 0,
  total: 1,
  visitors: 2,
  sums: (dimension: ClickDimension) => partOf(dimension, 0),
  slots: (dimension: ClickDimension) => partOf(dimension, 1),
}

/** After the parts of each kind for `VISITOR_DIMENSIONS`, the others in pairs. A day without rules, labels and places has none of those. */
function partOf(dimension: ClickDimension, kind: 0 | 1): number {
  const { length } = VISITOR_DIMENSIONS
  const index = CLICK_DIMENSIONS.indexOf(dimension)
  return index < length ? 3 + kind * length + index : 3 + 2 * index + kind
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

/**
 * Returns a day as one chunk.
 *
 * @param rows all parts that are stored of it
 */
export function wholeDay(rows: readonly DayPart[]): Buffer {
  tally.clear()
  const recent = rows.find(({ part }) => part === PARTS.recent)
  tally.addChunks(recent?.data ?? NO_BYTES)
  const others = rows.filter(({ part }) => part !== PARTS.recent)
  if (others.length > 0) addParts(others)
  return tally.take()
}

function addParts(rows: readonly DayPart[]): void {
  const parts = new Map(rows.map(({ part, data }) => [part, data]))
  const required = (part: number) => {
    const data = parts.get(part)
    if (data === undefined) throw new Error(`part ${part} of a click day is missing`)
    return data
  }
  tally.addTotal(required(PARTS.total), true)
  tally.addVisitors(required(PARTS.visitors))
  for (const dimension of VISITOR_DIMENSIONS) {
    tally.addValues(dimension, required(PARTS.slots(dimension)), true)
  }
  for (const dimension of SPARSE_DIMENSIONS) {
    const data = parts.get(PARTS.slots(dimension))
    if (data !== undefined) tally.addValues(dimension, data, true)
  }
}

/** Encodes every part of a day except the recent one. */
export function encodeParts(tally: DayTally): { part: number; data: Uint8Array }[] {
  const sparse = SPARSE_DIMENSIONS.filter((dimension) => tally.hasValues(dimension))
  return [
    { part: PARTS.total, data: tally.totalPart() },
    { part: PARTS.visitors, data: tally.visitorsPart() },
    ...[...VISITOR_DIMENSIONS, ...sparse].flatMap((dimension) => [
      { part: PARTS.sums(dimension), data: tally.valuesPart(dimension, false) },
      { part: PARTS.slots(dimension), data: tally.valuesPart(dimension, true) },
    ]),
  ]
}
