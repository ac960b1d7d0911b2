import type { Run } from '../platform/http/api/pagination.ts'
import type { EventType, EventWriter } from '../storage/event-log.ts'
import type { Event } from './event.ts'

/** The position of a reader of all events. Opaque: each engine has its own form. */
export type EventCursor = string

/** A position in the list of a workspace's events: by instant; equal instants are ordered by number. */
export type EventMark = Pick<Event, 'at' | 'sequence'>

/** The conditions of a list; an event must meet all of them. */
export type EventFilter = {
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
    /** Deletes the first of what is older, a bounded number; true when there may be more. */
    trim(beforeMicros: number): Promise<boolean>
  }

/** Whether the filter requires a scan of many rows; without it an index has the list. */
export function needsScan({ types, actorId, subjectId }: EventFilter): boolean {
  return subjectId === undefined && (types !== undefined || actorId !== undefined)
}
