import { z } from 'zod'
import {
  type ClickCountRecord,
  type ClickRecord,
  type ImportRecord,
  ImportSourceFault,
  type LinkRecord,
  type RefusedRecord,
} from '../../import-source.ts'
import { linkRecord as completeLink, refusedRecord as completeRefused } from '../link-record.ts'
import { findLocalInstant } from '../source-dates.ts'

/** Items of a list, and from where the next page is read; undefined after the last. */
export type SourcePage<Item, Cursor> = {
  readonly items: readonly Item[]
  readonly next: Cursor | undefined
}

/** How one service's list of links is read. `Cursor` is JSON. */
export type PagedList<Item, Cursor> = {
  /** Returns the cursor of the first page; when absent, that page needs none. */
  firstCursor?(): Cursor
  fetchPage(cursor: Cursor | undefined, signal: AbortSignal): Promise<SourcePage<Item, Cursor>>
  /** Identifies an item within its page. */
  idOf(item: Item): string
  /** Returns the item's records after the first `skip`; the same ones in every run. */
  recordsOf(
    item: Item,
    context: { readonly place: string; readonly skip: number; readonly signal: AbortSignal },
    cursor: Cursor | undefined,
  ): AsyncIterable<SourceRecord>
}

const resumeSchema = z.object({
  page: z.int().min(1),
  cursor: z.unknown().optional(),
  id: z.string(),
  done: z.int().min(1),
})

type ResumePoint = z.infer<typeof resumeSchema>

/**
 * Reads a list page by page. A record's `resume` holds the cursor of its page, the item, and how many of the item's
 * records were yielded: a page that has changed since loses nothing, because it is read after that item, or as
 * a whole if the item has gone.
 */
export async function* readPages<Item, Cursor>(
  list: PagedList<Item, Cursor>,
  options: { readonly resume: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<ImportRecord, void, void> {
  const { signal } = options
  let point = options.resume === undefined ? undefined : parseResume(options.resume)
  let cursor = point === undefined ? list.firstCursor?.() : (point.cursor as Cursor | undefined)
  for (let page = point?.page ?? 1; ; page += 1) {
    const { items, next } = await list.fetchPage(cursor, signal)
    const start = point === undefined ? 0 : findItem(list, items, point.id)
    for (const [index, item] of [...items.entries()].slice(start)) {
      const id = list.idOf(item)
      let done = id === point?.id ? point.done : 0
      const context = { place: `page ${page}, item ${index + 1}`, skip: done, signal }
      for await (const record of list.recordsOf(item, context, cursor)) {
        done += 1
        const resume: ResumePoint = { page, cursor, id, done }
        yield { ...record, resume: JSON.stringify(resume) }
      }
    }
    if (next === undefined) return
    point = undefined
    cursor = next
  }
}

/** For items of which each makes its records at once. */
export async function* allAfter(
  records: readonly SourceRecord[],
  skip: number,
): AsyncGenerator<SourceRecord, void, void> {
  yield* records.slice(skip)
}

function findItem<Item, Cursor>(
  list: PagedList<Item, Cursor>,
  items: readonly Item[],
  id: string,
): number {
  return Math.max(
    0,
    items.findIndex((item) => list.idOf(item) === id),
  )
}

function parseResume(resume: string): ResumePoint {
  try {
    return resumeSchema.parse(JSON.parse(resume))
  } catch (cause) {
    const message = 'The import cannot be resumed: its stored place in the source is not readable.'
    throw new ImportSourceFault(message, { isTransient: false, cause })
  }
}

/** The last item that was read, and the one that ended the page before. */
type LastIdCursor = { readonly last: string; readonly before: string | undefined }

/** A list of items that each make their records at once, of which the service gives the page after an item's ID. */
export function lastIdList<Item extends { readonly id: string }>(
  list: (last: string | undefined, signal: AbortSignal) => Promise<readonly Item[]>,
  recordsOf: (item: Item, place: string) => readonly SourceRecord[],
): PagedList<Item, LastIdCursor> {
  return {
    fetchPage: (cursor, signal) => lastIdPage((last) => list(last, signal), cursor),
    idOf: ({ id }) => id,
    recordsOf: (item, { place, skip }) => allAfter(recordsOf(item, place), skip),
  }
}

/**
 * Reads the page after an item's ID. A service that no longer has that item may answer with an empty page,
 * which looks like the end: so the page before is read again, and if the item has gone from it, reading
 * goes on with what that page holds. The importer knows the links of it that were read before.
 */
async function lastIdPage<Item extends { readonly id: string }>(
  list: (last: string | undefined) => Promise<readonly Item[]>,
  cursor: LastIdCursor | undefined,
): Promise<SourcePage<Item, LastIdCursor>> {
  const items = await list(cursor?.last)
  if (items.length > 0 || cursor === undefined) return pageOf(items, cursor?.last)
  const again = await list(cursor.before)
  const lastRead = again.findIndex(({ id }) => id === cursor.last)
  return pageOf(again.slice(lastRead + 1), cursor.before)
}

function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  before: string | undefined,
): SourcePage<Item, LastIdCursor> {
  const last = items.at(-1)?.id
  return { items, next: last === undefined ? undefined : { last, before } }
}

/** Where a list was left: all items up to `time` were read, and the next one was at `start`. */
export type TimeCursor = { readonly start: number; readonly time: string | number }

/** Part of a list, from the item at `start`, which may be before the one that was asked for. */
type TimeSlice<Item> = {
  readonly start: number
  readonly items: readonly Item[]
  readonly isLast: boolean
}

type TimeOrderedList<Item> = {
  fetchSlice(start: number, size: number): Promise<TimeSlice<Item>>
  /** Returns the instant by which the service orders the list. */
  timeOf(item: Item): string | number
  /** Orders items of equal times. */
  idOf(item: Item): string
  readonly order: 'newest first' | 'oldest first'
  readonly size: number
}

/** More links than this of the same second do not fit into one answer. */
const SIZE_MAX = 50_000

/**
 * Reads the next part of a list that a service orders by time alone and pages by offset. Such a list may show items of
 * equal times in another order each time, and moves while links are created and deleted. So each part ends where
 * the time changes, the items of one time all come from one answer, and a part begins with an item that was
 * read before: if it does not, the list has become shorter, and is read from further up. Items come in one order
 * every time, by time and ID.
 */
export async function readTimeOrderedPage<Item>(
  list: TimeOrderedList<Item>,
  cursor: TimeCursor | undefined,
): Promise<SourcePage<Item, TimeCursor>> {
  let { size } = list
  let start = Math.max(0, (cursor?.start ?? 0) - 1)
  for (;;) {
    const slice = await list.fetchSlice(start, size)
    const isNew = (item: Item) => cursor === undefined || isAfter(list, item, cursor.time)
    const [first] = slice.items
    if (slice.start > 0 && (first === undefined || isNew(first))) {
      start = Math.max(0, slice.start - size)
      continue
    }
    const items = inOrder(list, slice.items.filter(isNew))
    if (slice.isLast) return { items, next: undefined }
    const last = slice.items.at(-1)
    if (last === undefined) return { items, next: undefined }
    const lastTime = list.timeOf(last)
    const complete = items.filter((item) => list.timeOf(item) !== lastTime)
    const readTo = complete.at(-1)
    const ofLastTime = slice.items.findIndex((item) => list.timeOf(item) === lastTime)
    if (readTo !== undefined) {
      const next = { start: slice.start + ofLastTime, time: list.timeOf(readTo) }
      return { items: complete, next }
    }
    size = enlarged(size)
  }
}

function isAfter<Item>(list: TimeOrderedList<Item>, item: Item, time: string | number): boolean {
  const itemTime = list.timeOf(item)
  return list.order === 'newest first' ? itemTime < time : itemTime > time
}

function inOrder<Item>(list: TimeOrderedList<Item>, items: readonly Item[]): readonly Item[] {
  const direction = list.order === 'newest first' ? -1 : 1
  return items.toSorted((a, b) => {
    const [timeA, timeB] = [list.timeOf(a), list.timeOf(b)]
    if (timeA !== timeB) return timeA < timeB ? -direction : direction
    return list.idOf(a) < list.idOf(b) ? -1 : 1
  })
}

function enlarged(size: number): number {
  if (size * 2 <= SIZE_MAX) return size * 2
  const message = `More than ${SIZE_MAX} links were created in the same second, and the service cannot list them.`
  throw new ImportSourceFault(message, { isTransient: false })
}

type Unresumed<R> = R extends ImportRecord ? Omit<R, 'resume'> : never

/** A record before it is known from where the source is read again after it. */
export type SourceRecord = Unresumed<ImportRecord>

const SECRET = /password|token|secret/i
/** Fields whose values are in no report: secrets, and who created the link from which address. */
const HIDDEN = /password|token|secret|email|^ip$|^user$|^created_by$/i

type KnownOfLink = Pick<LinkRecord, 'ref' | 'place' | 'domain' | 'key' | 'url'> &
  Partial<LinkRecord>

export function linkRecord(known: KnownOfLink): Omit<LinkRecord, 'resume'> {
  const { resume: _, ...link } = completeLink({ ...known, resume: '' })
  return link
}

export function clickRecord(
  click: Omit<ClickRecord, 'kind' | 'resume'>,
): Omit<ClickRecord, 'resume'> {
  return { ...click, kind: 'click' }
}

export function countRecord(
  count: Omit<ClickCountRecord, 'kind' | 'resume'>,
): Omit<ClickCountRecord, 'resume'> {
  return { ...count, kind: 'count' }
}

export function refusedRecord(
  place: string,
  reason: string,
  item: unknown,
): Omit<RefusedRecord, 'resume'> {
  const row = JSON.stringify(item, (name, value) => (HIDDEN.test(name) && value ? '…' : value))
  const { resume: _, ...refused } = completeRefused({ resume: '', place, reason, row })
  return refused
}

/** Parses an item of a list, or returns the record that reports why it cannot be taken. */
export function parseItem<S extends z.ZodType>(
  schema: S,
  item: unknown,
  place: string,
): { item: z.infer<S> } | { refused: Omit<RefusedRecord, 'resume'> } {
  const parsed = schema.safeParse(item)
  if (parsed.success) return { item: parsed.data }
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.') || 'link'
  const reason = `Its ${field} is missing, or not of the expected form.`
  return { refused: refusedRecord(place, reason, item) }
}

/** What is left of an item without some of its fields, and without those that hold nothing. */
export function restOf(
  item: Readonly<Record<string, unknown>>,
  taken: readonly string[],
): Record<string, unknown> {
  const left = Object.entries(item).filter(
    ([name, value]) => !taken.includes(name) && !SECRET.test(name) && holdsSomething(value),
  )
  return Object.fromEntries(left)
}

function holdsSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return false
  return !(Array.isArray(value) && value.length === 0)
}

/** Returns undefined for a text without a slash. The key is decoded. */
export function splitShortLink(link: string): { domain: string; key: string } | undefined {
  const match = /^(?:https?:\/\/)?([^/?#]+)\/([^?#]*)$/i.exec(link)
  if (match === null) return undefined
  const [, domain = '', key = ''] = match
  return { domain: domain.toLowerCase(), key: decodeKey(key) }
}

/** A key that is no valid percent-encoding is taken as it is. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/**
 * Converts a service's date to microseconds since the epoch: ISO 8601 with a zone, milliseconds since the epoch,
 * or a date and time without a zone, which is read in `timeZone`. Returns null for anything else.
 */
export function microsOf(date: unknown, timeZone = 'UTC'): number | null {
  if (typeof date === 'number') return Number.isFinite(date) ? Math.round(date * 1_000) : null
  if (typeof date !== 'string') return null
  return zonedMicros(date) ?? findLocalInstant(date, timeZone) ?? null
}

function zonedMicros(text: string): number | null {
  try {
    return Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
  } catch {
    return null
  }
}
