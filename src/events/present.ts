import type { EventResource } from '@terse/contract/events'
import type { LinkChange } from '@terse/contract/link-history'
import { formatInstant } from '../platform/time/clock.ts'
import { INSTANCE } from '../storage/event-log.ts'
import type { Event, NamedEvent } from './store/event-store.ts'

/** An event as the API and the command line show it. */
export function presentEvent(event: NamedEvent): EventResource {
  return {
    sequence: event.sequence,
    at: formatInstant(event.at),
    workspace_id: withoutInstance(event.workspaceId),
    actor: { ...event.actor },
    request_id: event.requestId,
    type: event.type,
    subject_id: withoutInstance(event.subjectId),
    subject_name: event.subjectName,
    before: event.before && { ...event.before },
    after: event.after && { ...event.after },
  }
}

/** A change of a link as its history shows it. */
export function presentChange(event: Event): LinkChange {
  return {
    sequence: event.sequence,
    at: formatInstant(event.at),
    actor: { ...event.actor },
    type: event.before === null ? 'link.created' : 'link.updated',
    before: event.before && { ...event.before },
    after: event.after && { ...event.after },
  }
}

function withoutInstance(id: string): string | null {
  return id === INSTANCE ? null : id
}
