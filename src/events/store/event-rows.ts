import type { Kysely, Selectable } from 'kysely'
import type { EventFields, EventType } from '../../storage/event-log.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Event } from '../event.ts'

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
