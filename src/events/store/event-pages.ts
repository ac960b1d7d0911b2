import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { uuidTimeMs } from '../../platform/crypto/random.ts'
import type { Run } from '../../platform/http/api/pagination.ts'
import { type EventType, workspaceNumber } from '../../storage/event-log.ts'
import { SCAN_MS_MAX, type Scans } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Event } from '../event.ts'
import { type EventFilter, type EventMark, type EventRun, needsScan } from '../event-store.ts'
import { EVENT_COLUMNS, type EventRow, eventsOf } from './event-rows.ts'

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
export async function eventRun(
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
