import type { Kysely } from 'kysely'
import { workspaceNumber } from '../../storage/event-log.ts'
import type { ScanLimits, Scans } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import { SPARSE_DIMENSIONS } from '../click.ts'
import type {
  ClickScope,
  DayOfClicks,
  DayOptions,
  RawClick,
  Tally,
} from '../report/day-of-clicks.ts'
import type { DaySpan, DaysPerRead } from '../report/period.ts'
import { dayOf } from '../tally/click-day.ts'
import { addSums, readSums, readTallies, readTotal, withoutValue } from '../tally/day-format.ts'
import { DayTally } from '../tally/day-tally.ts'
import type { ClickFeed } from './click-feed.ts'
import { PARTS, SCOPES } from './fold-days.ts'
import { addLinkNames, type LinkCounts, type RawClickSource } from './raw-click-source.ts'

/** Reads counted clicks by day. */
export type ClickDays = {
  readonly daysPerRead: DaysPerRead
  /**
   * Reads the days from `fromDay` to `toDay`, both included, in ascending order. Days without clicks are
   * left out. `slots` are empty unless requested. `options.values` limits the values of the dimension,
   * which is faster than reading all.
   */
  readDays(
    scope: ClickScope,
    fromDay: number,
    toDay: number,
    options: DayOptions,
  ): Promise<readonly DayOfClicks[]>
  /**
   * Reads the days of several links without their values and visitors, for each link in ascending order. Links and
   * days without clicks are left out.
   */
  readDaysOfLinks(
    linkSeqs: readonly number[],
    days: DaySpan | DayList,
  ): Promise<ReadonlyMap<number, readonly DayOfClicks[]>>
  /** Returns the days that have counted clicks, in ascending order. */
  daysWithClicks(scope: ClickScope, fromDay: number, toDay: number): Promise<readonly number[]>
}

/** Reads counted and raw clicks for charts and exports. */
export type ClickReports = ClickDays & {
  /**
   * Reads the kept clicks from `fromMicros` (included) to `toMicros` (excluded), oldest day first, in small
   * batches. Some batches are empty, so that one arrives every few milliseconds. Within a day, clicks are
   * in the order of ingestion, which is nearly the order of time.
   *
   * @param limits.msMax limits the time spent reading, without waiting for turns; no limit by default
   * @throws {ScanTooLong} after `msMax`
   */
  rawClicks(
    scope: ClickScope,
    fromMicros: number,
    toMicros: number,
    limits?: ScanLimits,
  ): AsyncIterable<readonly RawClick[]>
  /** Adds up what `rawClicks` would read by link, in small batches. A link may come several times. */
  linkCounts(
    scope: ClickScope,
    fromMicros: number,
    toMicros: number,
    limits?: ScanLimits,
  ): AsyncIterable<readonly LinkCounts[]>
  /** Returns the ids of the links that exist. */
  linkIds(linkSeqs: readonly number[]): Promise<ReadonlyMap<number, string>>
}

/** Opens the readers of clicks over a connection or transaction of the main database, which has the links. */
export type ClickReaders = {
  readonly reports: (on: { db: Kysely<Schema>; scans: Scans }) => ClickReports
  readonly feed: (on: { db: Kysely<Schema>; scans: Scans }) => ClickFeed
}

/** At most as many days as one query may have. */
type DayList = { readonly days: readonly number[]; readonly slots: boolean }

/** Days per query; each is looked up by its full key. */
const DAYS_PER_QUERY = 400

/** The days that are stored in the database itself. */
export function storedClickDays(db: Kysely<Schema>): ClickDays {
  return {
    daysPerRead: { total: 366, values: 31, valuesWithSlots: 7 },

    async readDays(scope, fromDay, toDay, options) {
      const found: DayOfClicks[] = []
      for (const days of daysInRuns(fromDay, toDay)) {
        found.push(...(await readDays(db, scope, days, options)))
      }
      return found
    },

    readDaysOfLinks: (linkSeqs, days) => readDaysOfLinks(db, linkSeqs, days),
    daysWithClicks: (scope, fromDay, toDay) => daysWithClicks(db, scope, fromDay, toDay),
  }
}

/** @param db has the links, and their names */
export function clickReports(
  db: Kysely<Schema>,
  scans: Pick<Scans, 'begin'>,
  { days, raw }: { readonly days: ClickDays; readonly raw: RawClickSource },
): ClickReports {
  return {
    ...days,

    async *rawClicks(scope, fromMicros, toMicros, limits) {
      const scan = scans.begin(scope.workspaceId, limits)
      for (const day of await days.daysWithClicks(scope, dayOf(fromMicros), dayOf(toMicros))) {
        const pages = raw.pages({ scope, day, fromMicros, toMicros, scan })
        for await (const page of pages) yield page.length === 0 ? [] : addLinkNames(db, page)
      }
    },

    async *linkCounts(scope, fromMicros, toMicros, limits) {
      const scan = scans.begin(scope.workspaceId, limits)
      for (const day of await days.daysWithClicks(scope, dayOf(fromMicros), dayOf(toMicros))) {
        yield* raw.linkCounts({ scope, day, fromMicros, toMicros, scan })
      }
    },

    async linkIds(linkSeqs) {
      const read = db.selectFrom('links').select(['seq', 'id']).where('seq', 'in', linkSeqs)
      return new Map((await read.execute()).map(({ seq, id }) => [seq, id]))
    },
  }
}

/** Finds the days that have counted clicks, so that no other day is scanned. */
async function daysWithClicks(
  db: Kysely<Schema>,
  scope: ClickScope,
  fromDay: number,
  toDay: number,
): Promise<number[]> {
  const found: number[] = []
  for (const days of daysInRuns(fromDay, toDay)) {
    const rows = await db
      .selectFrom('click_days')
      .select('day')
      .where('day', 'in', days)
      .where((eb) => eb.and({ ...subjectOf(scope), part: PARTS.recent }))
      .orderBy('day')
      .execute()
    found.push(...rows.map(({ day }) => day))
  }
  return found
}

function* daysInRuns(fromDay: number, toDay: number): Generator<number[]> {
  for (let first = fromDay; first <= toDay; first += DAYS_PER_QUERY) {
    const count = Math.min(DAYS_PER_QUERY, toDay - first + 1)
    yield Array.from({ length: count }, (_, index) => first + index)
  }
}

async function readDaysOfLinks(
  db: Kysely<Schema>,
  linkSeqs: readonly number[],
  wanted: DaySpan | DayList,
): Promise<ReadonlyMap<number, readonly DayOfClicks[]>> {
  const { slots } = wanted
  const runs = 'days' in wanted ? [wanted.days] : daysInRuns(wanted.fromDay, wanted.toDay)
  const rows: (PartRow & { subject: number })[] = []
  for (const days of runs) {
    const read = db
      .selectFrom('click_days')
      .select(['subject', 'day', 'part', 'parts', 'data'])
      .where('day', 'in', days)
      .where('scope', '=', SCOPES.link)
      .where('subject', 'in', linkSeqs)
      .where('workspace_id', '=', '')
      .where('part', 'in', [PARTS.recent, PARTS.total])
    rows.push(...(await read.execute()))
  }
  const ofLink = (ofOne: readonly PartRow[]) =>
    [...Map.groupBy(ofOne, ({ day }) => day)]
      .sort(([a], [b]) => a - b)
      .map(([day, ofDay]) => assemble(day, ofDay, undefined, { slots }))
  const byLink = Map.groupBy(rows, ({ subject }) => subject)
  return new Map([...byLink].map(([linkSeq, ofOne]) => [linkSeq, ofLink(ofOne)]))
}

type PartRow = Pick<Schema['click_days'], 'day' | 'part' | 'parts' | 'data'>

async function readDays(
  db: Kysely<Schema>,
  scope: ClickScope,
  days: readonly number[],
  options: DayOptions,
): Promise<DayOfClicks[]> {
  const { dimension, slots } = options
  const parts = [PARTS.recent, PARTS.total]
  if (dimension !== undefined) parts.push(slots ? PARTS.slots(dimension) : PARTS.sums(dimension))
  const rows = await readParts(db, scope, days, parts)
  const byDay = Map.groupBy(rows, ({ day }) => day)
  const unsettled = rows.filter(({ part, parts, data }) => isUnsettled(part, parts, data))
  const unsettledDays = unsettled.map(({ day }) => day)
  const visitors = await readParts(db, scope, unsettledDays, [PARTS.visitors])
  const sketches = new Map(visitors.map(({ day, data }) => [day, data]))
  return [...byDay]
    .sort(([a], [b]) => a - b)
    .map(([day, ofDay]) => assemble(day, ofDay, sketches.get(day), options))
}

/** Whether a split day has recent clicks. */
function isUnsettled(part: number, parts: number, data: Uint8Array): boolean {
  return part === PARTS.recent && parts > 0 && data.length > 0
}

async function readParts(
  db: Kysely<Schema>,
  scope: ClickScope,
  days: readonly number[],
  parts: readonly number[],
): Promise<PartRow[]> {
  if (days.length === 0) return []
  return db
    .selectFrom('click_days')
    .select(['day', 'part', 'parts', 'data'])
    .where('day', 'in', days)
    .where((eb) => eb.and(subjectOf(scope)))
    .where('part', 'in', parts)
    .execute()
}

function subjectOf(scope: ClickScope) {
  if (scope.kind === 'link') {
    return { scope: SCOPES.link, subject: scope.linkSeq, workspace_id: '' }
  }
  const workspace_id = scope.workspaceId
  return scope.kind === 'domain'
    ? { scope: SCOPES.domain, subject: scope.keyspaceId, workspace_id }
    : { scope: SCOPES.workspace, subject: workspaceNumber(workspace_id), workspace_id }
}

function assemble(
  day: number,
  rows: readonly PartRow[],
  sketch: Uint8Array | undefined,
  options: DayOptions,
): DayOfClicks {
  const parts = new Map(rows.map(({ part, data }) => [part, data]))
  const kept = parts.get(PARTS.total)
  const isSettled = (parts.get(PARTS.recent)?.length ?? 0) === 0
  if (kept !== undefined && isSettled) return readSettled(day, kept, parts, options)
  const { dimension, values: wanted, slots } = options
  const values = dimension && parts.get(slots ? PARTS.slots(dimension) : PARTS.sums(dimension))
  tally.clear()
  tally.addChunks(parts.get(PARTS.recent) ?? new Uint8Array(0))
  if (kept !== undefined) tally.addTotal(kept, slots)
  if (sketch !== undefined) tally.addVisitors(sketch)
  if (dimension && values) tally.addValues(dimension, values, slots)
  return {
    day,
    total: tally.total(slots),
    visitors: tally.visitors,
    values: dimension ? tally.values(dimension, slots, wanted) : new Map(),
  }
}

/** Shared scratch: cleared before each use, and never held across an `await`. */
const tally = new DayTally()

/** Reads a split day without recent clicks, which needs no merging. */
function readSettled(
  day: number,
  totalPart: Uint8Array,
  parts: ReadonlyMap<number, Uint8Array>,
  options: DayOptions,
): DayOfClicks {
  const { dimension, slots } = options
  const { visitors, ...total } = readTotal(totalPart, slots)
  const part = dimension && parts.get(slots ? PARTS.slots(dimension) : PARTS.sums(dimension))
  const isSparse = SPARSE_DIMENSIONS.some((name) => name === dimension)
  const values = isSparse
    ? readSparseValues(total, part, options)
    : part === undefined
      ? new Map<string, Tally>()
      : readValues(part, options)
  return { day, total, visitors, values }
}

function readValues(
  part: Uint8Array,
  { values, slots, totals }: DayOptions,
): ReadonlyMap<string, Tally> {
  if (slots) return readTallies(part, values)
  if (totals === undefined) return readSums(part, values)
  addSums(part, totals)
  return new Map()
}

/** The clicks without a value are those that no value has. */
function readSparseValues(
  total: Tally,
  part: Uint8Array | undefined,
  { values: wanted, slots, totals }: DayOptions,
): ReadonlyMap<string, Tally> {
  if (totals !== undefined && !slots) {
    const sum = part === undefined ? NO_CLICKS : addSums(part, totals)
    const persons = total.persons - sum.persons
    const others = total.others - sum.others
    if (persons + others > 0) totals.add(NO_BYTES, 0, 0, persons, others)
    return new Map()
  }
  const read = slots ? readTallies : readSums
  const values = part === undefined ? new Map<string, Tally>() : read(part)
  const without = withoutValue(total, values.values())
  if (without !== undefined) values.set('', without)
  if (wanted === undefined) return values
  return new Map([...values].filter(([value]) => wanted.has(value)))
}

const NO_BYTES = new Uint8Array(0)
const NO_CLICKS = { persons: 0, others: 0 }
