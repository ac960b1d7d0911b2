import type { EventAuthor, NewEvent } from '../storage/event-log.ts'

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
