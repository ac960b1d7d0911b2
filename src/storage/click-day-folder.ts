import type { Kysely } from 'kysely'
import { CLICK_DIMENSIONS, type ClickDimension } from '../domain/clicks/click.ts'
import {
  readChunks,
  readTotal,
  readValueSlots,
  readVisitors,
  writeSums,
  writeTally,
  writeTotal,
  writeValueSlots,
  writeVisitors,
} from '../domain/clicks/day-codec.ts'
import { DayTally } from '../domain/clicks/day-tally.ts'
import { ByteWriter } from '../lib/byte-writer.ts'
import type { DayKey, GrownDay } from './click-day-rows.ts'
import type { Schema } from './schema.ts'

/** What a row of `click_days` holds. */
export const PARTS = {
  /** Chunks: the whole day while it is small, else what has not been added to the other parts yet. */
  recent: 0,
  total: 1,
  visitors: 2,
  sums: (dimension: ClickDimension) => 3 + CLICK_DIMENSIONS.indexOf(dimension),
  slots: (dimension: ClickDimension) =>
    3 + CLICK_DIMENSIONS.length + CLICK_DIMENSIONS.indexOf(dimension),
}

/** A day of more bytes than this is taken apart. */
const WHOLE_BYTES_MAX = 2_048
/** Of a day that has been taken apart, so much of it may wait to be added to the parts. */
const RECENT_SHARE_MAX = 1 / 8

/** Folds days that have grown; each within a transaction that holds the lock of the day's row. */
export async function foldDays(db: Kysely<Schema>, days: readonly GrownDay[]): Promise<void> {
  const writer = new ByteWriter()
  for (const { day, scope, subject, workspace_id, parts } of days) {
    const key = { day, scope, subject, workspace_id }
    const recent = new DayTally()
    readChunks(await readRecent(db, key), recent)
    recent.limitValues()
    writeTally(writer, recent)
    const whole = writer.take()
    if (whole.length <= Math.max(WHOLE_BYTES_MAX, parts * RECENT_SHARE_MAX)) {
      await setRecent(db, key, whole, parts)
    } else {
      await addToParts(db, key, recent, parts > 0)
    }
  }
}

/** Adds what is recent in a day that is over to its parts, so that readers need not. */
export async function settleDay(db: Kysely<Schema>, key: DayKey): Promise<void> {
  // Takes the row's lock on every engine: nobody appends to it until this transaction has ended.
  await db
    .updateTable('click_days')
    .set((eb) => ({ folded: eb.ref('folded') }))
    .where((eb) => eb.and({ ...key, part: PARTS.recent }))
    .execute()
  const recent = new DayTally()
  const chunks = await readRecent(db, key)
  readChunks(chunks, recent)
  if (chunks.length > 0) await addToParts(db, key, recent, true)
  await db
    .deleteFrom('unsettled_days')
    .where((eb) => eb.and(key))
    .execute()
}

async function addToParts(
  db: Kysely<Schema>,
  key: DayKey,
  tally: DayTally,
  exist: boolean,
): Promise<void> {
  if (exist) await readParts(db, key, tally)
  tally.limitValues()
  const rows = encodeParts(tally).map(({ part, data }) => ({
    ...key,
    part,
    data,
    folded: 0,
    parts: 0,
  }))
  for (const row of rows) {
    await db
      .insertInto('click_days')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['day', 'scope', 'subject', 'workspace_id', 'part'])
          .doUpdateSet({ data: row.data }),
      )
      .execute()
  }
  const bytes = rows.reduce((sum, { data }) => sum + data.length, 0)
  await setRecent(db, key, new Uint8Array(0), bytes)
  if (exist) return
  await db
    .insertInto('unsettled_days')
    .values(key)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function readParts(db: Kysely<Schema>, key: DayKey, into: DayTally): Promise<void> {
  const rows = await db
    .selectFrom('click_days')
    .select(['part', 'data'])
    .where((eb) => eb.and(key))
    .execute()
  const parts = new Map(rows.map(({ part, data }) => [part, data]))
  const partOf = (part: number) => {
    const data = parts.get(part)
    if (data === undefined) throw new Error(`part ${part} of a day of clicks is missing`)
    return data
  }
  into.total.merge(readTotal(partOf(PARTS.total), true).slots)
  readVisitors(partOf(PARTS.visitors), into.visitors)
  for (const dimension of CLICK_DIMENSIONS) {
    readValueSlots(partOf(PARTS.slots(dimension)), into, dimension)
  }
}

/** Every part of a day but the recent one. */
export function encodeParts(tally: DayTally): { part: number; data: Uint8Array }[] {
  const writer = new ByteWriter()
  const encode = (part: number, write: () => void) => {
    write()
    return { part, data: writer.take() }
  }
  return [
    encode(PARTS.total, () => writeTotal(writer, tally)),
    encode(PARTS.visitors, () => writeVisitors(writer, tally)),
    ...CLICK_DIMENSIONS.flatMap((dimension) => [
      encode(PARTS.sums(dimension), () => writeSums(writer, tally, dimension)),
      encode(PARTS.slots(dimension), () => writeValueSlots(writer, tally, dimension)),
    ]),
  ]
}

async function readRecent(db: Kysely<Schema>, key: DayKey): Promise<Uint8Array> {
  const row = await db
    .selectFrom('click_days')
    .select('data')
    .where((eb) => eb.and({ ...key, part: PARTS.recent }))
    .executeTakeFirst()
  return row?.data ?? new Uint8Array(0)
}

async function setRecent(
  db: Kysely<Schema>,
  key: DayKey,
  data: Uint8Array,
  parts: number,
): Promise<void> {
  await db
    .updateTable('click_days')
    .set({ data, folded: data.length, parts })
    .where((eb) => eb.and({ ...key, part: PARTS.recent }))
    .execute()
}
