import type { Selectable } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import type { EventFields, EventType } from '../../platform/events/event-writer.ts'
import type { Event } from '../event.ts'

export const EVENT_COLUMNS = [
  'id',
  'at',
  'workspace_id',
  'actor_kind',
  'actor_id',
  'actor_name',
  'request_id',
  'type',
  'subject_id',
  'before_fields',
  'after_fields',
] as const

export type EventRow = Pick<Selectable<Schema['events']>, (typeof EVENT_COLUMNS)[number]>

export function eventOf(row: EventRow): Event {
  return {
    sequence: row.id,
    at: row.at,
    workspaceId: row.workspace_id,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
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
