import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import { uuidTimeMs } from '../../platform/crypto/random.ts'
import type { Run } from '../../platform/http/api/pagination.ts'
import {
  type EventAuthor,
  type EventFields,
  type EventType,
  type EventWriter,
  type NewEvent,
  workspaceNumber,
} from '../../storage/event-log.ts'
import { SCAN_MS_MAX, type Scans } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'

/** The position of a reader of all events. Opaque: each engine has its own form. */
export type EventCursor = string

/** A position in the list of a workspace's events: by instant; equal instants are ordered by number. */
export type EventMark = Pick<Event, 'at' | 'sequence'>

/** The conditions of a list; an event must meet all of them. */
type EventFilter = {
  readonly workspaceId: string
  /** One of these. */
  readonly types?: readonly EventType[] | undefined
  readonly subjectId?: string | undefined
  readonly actorId?: string | undefined
  /** Microseconds since the epoch; the first instant of the list. */
  readonly fromMicros?: number | undefined
  /** Microseconds since the epoch; the first instant after the list. */
  readonly toMicros?: number | undefined
}

/** Consecutive events of a list, newest first. */
export type EventRun = EventFilter & {
  readonly limit: number
  /** The run starts after this position; at the newest event when undefined. */
  readonly beyond: EventMark | undefined
}

/** Consecutive events of a workspace, oldest first. Instants are microseconds since the epoch. */
type WalkedEvents = {
  readonly workspaceId: string
  readonly types: readonly EventType[]
  readonly fromMicros: number
  /** The first instant after the period. */
  readonly toMicros: number
  readonly after: EventMark
  readonly limit: number
}

export type NewEvents = { readonly events: readonly Event[]; readonly cursor: EventCursor }

/** Reads the events of all workspaces in the order of commits. */
export type EventFeed = {
  /** Returns the cursor of a reader that has read every event committed so far. */
  end(): Promise<EventCursor>
  /**
   * The first events that were committed after `cursor`, and the cursor to go on from. Leaves none out, in
   * whatever order transactions commit. May return an event again after the database was restored, failed
   * over or crashed: those of the hour before the cursor was given. So readers must know events by their
   * sequence.
   */
  since(cursor: EventCursor, limit: number): Promise<NewEvents>
}

export type EventStore = EventFeed &
  EventWriter & {
    /**
     * Events of a list. With `types` or `actorId` and no subject its cost grows with the events between its
     * beginning and its end.
     *
     * @throws {ScanTooLong} when it must read for too long
     */
    run(run: EventRun): Promise<Run<Event, EventMark>>
    /**
     * The first events of these types in a period, oldest first, after a position. Events of a transaction that commits
     * later than others with later instants may be missing from what was read before.
     */
    walk(wanted: WalkedEvents): Promise<readonly Event[]>
    /** Returns the event with this number if it is about this subject of this workspace. */
    findOfSubject(
      workspaceId: string,
      subjectId: string,
      sequence: number,
    ): Promise<Event | undefined>
    /** Deletes the first of what is older, a bounded number; true when there may be more. */
    trim(beforeMicros: number): Promise<boolean>
  }

/** Whether the filter requires a scan of many rows; without it an index has the list. */
export function needsScan({ types, actorId, subjectId }: EventFilter): boolean {
  return subjectId === undefined && (types !== undefined || actorId !== undefined)
}

/** An entry of the event log. */
export type Event = NewEvent & {
  /** Increases with every event of the instance, but not in the order of commits. */
  readonly sequence: number
  /** Microseconds since the epoch. */
  readonly at: number
  readonly workspaceId: string
  readonly actor: Pick<EventAuthor, 'kind' | 'id' | 'name'>
  readonly requestId: string | null
}

export type NamedEvent = Event & {
  /** The address of the link that it is about; null for other subjects, and where it is not known. */
  readonly subjectName: string | null
}

/** The number of events to delete per statement. */
const TRIM_MAX = 1_000

export type OpenEventFeed = (db: Kysely<Schema>, writes: WriteBuffer) => EventFeed

export function eventStore(on: {
  db: Kysely<Schema>
  scans: Scans
  writes: WriteBuffer
  openFeed: OpenEventFeed
}): EventStore {
  const { db, writes } = on
  const feed = on.openFeed(db, writes)
  return {
    end: feed.end,
    since: feed.since,
    append: (author, event, atMicros) => writes.appendEvent(author, event, atMicros),
    async run(run) {
      await writes.flush()
      return eventRun(on, run)
    },
    async walk({ types, after, limit, ...period }) {
      await writes.flush()
      const rows = await db
        .selectFrom('events')
        .select(EVENT_COLUMNS)
        .where(within(period, { beyond: undefined }))
        .where((eb) => eb(eb.refTuple('at', 'id'), '>', eb.tuple(after.at, after.sequence)))
        .where('type', 'in', types.length === 0 ? [''] : types)
        .orderBy('at')
        .orderBy('id')
        .limit(limit)
        .execute()
      const events = await eventsOf(db, rows)
      return events.filter(({ workspaceId }) => workspaceId === period.workspaceId)
    },
    async findOfSubject(workspaceId, subjectId, sequence) {
      await writes.flush()
      const rows = await db
        .selectFrom('events')
        .select(EVENT_COLUMNS)
        .where('id', '=', sequence)
        .where('subject_id', '=', subjectId)
        .execute()
      const events = await eventsOf(db, rows)
      return events.find((event) => event.workspaceId === workspaceId)
    },
    /** By number, which rises with time but for the differences of clocks. */
    async trim(beforeMicros) {
      await writes.flush()
      const first = db.selectFrom('events').select('id').orderBy('id').limit(TRIM_MAX)
      const result = await db
        .deleteFrom('events')
        .where('id', 'in', first)
        .where('at', '<', beforeMicros)
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}

/** Events that one turn of a scan looks at: some 10 ms. */
const SLICE_EVENTS = 4_096

const LINK_CREATED = 'link.created' satisfies EventType
/** The condition of the index of subjects, letter for letter, or no engine would use it. */
const IS_INDEXED = sql<boolean>`type <> 'link.created'`
/** The longest time between a link's identifier and its event; no request lasts as long. */
const CREATION_MS_MAX = 30_000

/** A part of a list, from behind `beyond` to `until`, which belongs to it. */
type Range = { readonly beyond: EventMark | undefined; readonly until?: EventMark | undefined }

/**
 * Reads a list of events. Events of certain types or actors are looked for slice by slice, each in a turn
 * of its own, until the run is full.
 */
async function eventRun(
  on: { db: Kysely<Schema>; scans: Scans },
  run: EventRun,
): Promise<Run<Event, EventMark>> {
  const rows = await rowsOf(on, run)
  const page = rows.slice(0, run.limit)
  const events = await eventsOf(on.db, page)
  // Not a condition of the statement: PostgreSQL expects hardly any event to meet it, and then reads all of them.
  const items = events.filter(({ workspaceId }) => workspaceId === run.workspaceId)
  const last = rows.length > run.limit ? page.at(-1) : undefined
  return { items, rest: last && { at: last.at, sequence: last.id } }
}

async function rowsOf(
  on: { db: Kysely<Schema>; scans: Scans },
  run: EventRun,
): Promise<EventRow[]> {
  if (needsScan(run)) return scanned(on.scans, run)
  const { subjectId } = run
  return subjectId === undefined
    ? read(on.db, run, run)
    : readOfSubject(on.db, { ...run, subjectId })
}

async function scanned(scans: Scans, run: EventRun): Promise<EventRow[]> {
  const scan = scans.begin(run.workspaceId, { msMax: SCAN_MS_MAX })
  const found: EventRow[] = []
  let beyond = run.beyond
  do {
    beyond = await scan.turn(async () => {
      const until = await endOfSlice(scans.db, run, beyond)
      const left = { ...run, limit: run.limit - found.length }
      found.push(...(await read(scans.db, left, { beyond, until })))
      return found.length > run.limit ? undefined : until
    })
  } while (beyond !== undefined)
  return found
}

/** One more than the limit, to see whether the list goes on. */
function read(db: Kysely<Schema>, run: EventRun, range: Range): Promise<EventRow[]> {
  return db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .where(within(run, range))
    .where(matches(run))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(run.limit + 1)
    .execute()
}

/**
 * Events of one subject. The index leaves out the creation of links, which is most of what the log holds, so
 * that event is looked for at the instant that the link's identifier names.
 */
async function readOfSubject(
  db: Kysely<Schema>,
  run: EventRun & { readonly subjectId: string },
): Promise<EventRow[]> {
  const rows = await db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .where(within(run, run))
    .where(matches(run))
    .where(IS_INDEXED)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(run.limit + 1)
    .execute()
  if (rows.length > run.limit) return rows
  const createdMs = uuidTimeMs(run.subjectId)
  if (createdMs === undefined) return rows
  const creation = await db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .where(within(run, run))
    .where(matches(run))
    .where('type', '=', LINK_CREATED)
    .where('at', '>=', createdMs * 1_000)
    .where('at', '<', (createdMs + CREATION_MS_MAX) * 1_000)
    .orderBy('at')
    .orderBy('id')
    .limit(1)
    .execute()
  return [...rows, ...creation]
}

/** The last event of a slice; undefined when the list ends before. */
async function endOfSlice(
  db: Kysely<Schema>,
  filter: EventFilter,
  beyond: EventMark | undefined,
): Promise<EventMark | undefined> {
  const row = await db
    .selectFrom('events')
    .select(['at', 'id'])
    .where(within(filter, { beyond }))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .offset(SLICE_EVENTS - 1)
    .executeTakeFirst()
  return row && { at: row.at, sequence: row.id }
}

/** The conditions that an index answers. Another workspace may have the same number, see `eventRun`. */
function within(filter: EventFilter, { beyond, until }: Range) {
  const { workspaceId, fromMicros, toMicros } = filter
  return (eb: ExpressionBuilder<Schema, 'events'>) => {
    const place = eb.refTuple('at', 'id')
    return eb.and([
      eb('workspace', '=', workspaceNumber(workspaceId)),
      ...(fromMicros === undefined ? [] : [eb('at', '>=', fromMicros)]),
      ...(toMicros === undefined ? [] : [eb('at', '<', toMicros)]),
      ...(beyond === undefined ? [] : [eb(place, '<', eb.tuple(beyond.at, beyond.sequence))]),
      ...(until === undefined ? [] : [eb(place, '>=', eb.tuple(until.at, until.sequence))]),
    ])
  }
}

function matches({ types, subjectId, actorId }: EventFilter) {
  return (eb: ExpressionBuilder<Schema, 'events'>) => {
    const idOfAuthor = eb
      .selectFrom('event_authors')
      .select('actor_id')
      .whereRef('number', '=', 'author')
    return eb.and([
      sql<boolean>`1 = 1`,
      ...(types === undefined ? [] : [eb('type', 'in', types)]),
      ...(subjectId === undefined ? [] : [eb('subject_id', '=', subjectId)]),
      ...(actorId === undefined ? [] : [eb(idOfAuthor, '=', actorId)]),
    ])
  }
}

export const EVENT_COLUMNS = [
  'id',
  'at',
  'author',
  'request_id',
  'type',
  'subject_id',
  'before_fields',
  'after_fields',
] as const

export type EventRow = Pick<Selectable<Schema['events']>, (typeof EVENT_COLUMNS)[number]>

/**
 * Returns the events of rows, in their order. Their authors are read by a statement of its own, because PostgreSQL may
 * join before it has found the events by their index. An event whose author was lost in a failover is left out.
 */
export async function eventsOf(db: Kysely<Schema>, rows: readonly EventRow[]): Promise<Event[]> {
  const numbers = new Set(rows.map(({ author }) => author))
  if (numbers.size === 0) return []
  const authors = await db
    .selectFrom('event_authors')
    .selectAll()
    .where('number', 'in', [...numbers])
    .execute()
  const byNumber = new Map(authors.map((author) => [author.number, author]))
  return rows.flatMap((row) => {
    const author = byNumber.get(row.author)
    return author === undefined ? [] : eventOf(row, author)
  })
}

function eventOf(row: EventRow, author: Selectable<Schema['event_authors']>): Event {
  return {
    sequence: row.id,
    at: row.at,
    workspaceId: author.workspace_id,
    actor: { kind: author.kind, id: author.actor_id, name: author.name },
    requestId: row.request_id,
    type: row.type as EventType,
    subjectId: row.subject_id,
    before: fieldsOf(row.before_fields),
    after: fieldsOf(row.after_fields),
  }
}

function fieldsOf(text: string | null): EventFields | null {
  return text === null ? null : JSON.parse(text)
}
