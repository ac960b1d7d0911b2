import type { EventResource } from '@terse/contract/events'

/** What may happen in a workspace. */
export type EventType = EventResource['type']

/** Values by field, under the names of the API. */
export type EventFields = Readonly<Record<string, unknown>>

/** What an operation reports of a change. */
export type NewEvent = {
  readonly type: EventType
  /** The identifier of what was changed. */
  readonly subjectId: string
  /** The changed fields as they were; null for what was created. Never a secret. */
  readonly before: EventFields | null
  /** The changed fields as they are now; null for what was deleted. Never a secret. */
  readonly after: EventFields | null
}

/** The workspace of events that belong to none, such as a person's new password. */
export const INSTANCE = '00000000-0000-0000-0000-000000000000'

/** Who caused an event, in which workspace. */
export type EventAuthor = {
  readonly kind: 'token' | 'person' | 'system'
  readonly id: string | null
  readonly name: string
  readonly workspaceId: string
  readonly requestId: string | null
}

/** Writes the event log: the part of its store that every operation which changes something needs. */
export type EventWriter = {
  /** Writes an event with the changes of its transaction. Only within `Store.write`. */
  append(author: EventAuthor, event: NewEvent, atMicros: number): Promise<void>
}

/** Fields that are not null. */
export function setFields(fields: EventFields): Record<string, unknown> {
  const set: Record<string, unknown> = {}
  // Every create of a link comes here, and a list of entries costs more than the rest of its event.
  for (const name in fields) if (fields[name] !== null) set[name] = fields[name]
  return set
}

/** The fields whose values differ, as they were and as they are now. */
export function changedFields(
  before: EventFields,
  after: EventFields,
): { readonly before: EventFields; readonly after: EventFields } {
  const names = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  const only = (fields: EventFields) =>
    Object.fromEntries(names.map((name) => [name, fields[name] ?? null]))
  return { before: only(before), after: only(after) }
}
