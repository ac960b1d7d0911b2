import type { Actor } from '../identity/index.ts'
import type { Run } from '../platform/database/page.ts'
import { ScanTooLong } from '../platform/database/scan-too-long.ts'
import type { Store } from '../platform/database/store.ts'
import { Failure } from '../platform/failure.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { Event } from './event.ts'
import { type EventMark, type EventRun, type EventStore, needsScan } from './event-store.ts'

/** Running scans for types or actors take turns to read, so their number costs memory only, not latency. */
export const EVENT_QUEUE: FairQueueOptions = {
  work: 'event lists',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 16,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

type EventStores = { readonly events: EventStore }

/** The operations on the event log. Each acts within the workspace of its actor. */
export class Events {
  readonly #store: Store<EventStores>
  readonly #lists: FairQueue

  /** @param deps.lists for `EVENT_QUEUE` */
  constructor(deps: { store: Store<EventStores>; lists: FairQueue }) {
    this.#store = deps.store
    this.#lists = deps.lists
  }

  /**
   * Consecutive events, newest first.
   *
   * @throws {Failure} `validation_failed` where too many events would have to be read
   * @throws {QueueRefusal} when too many lists are waiting
   */
  async list(
    { workspaceId }: Actor,
    requested: Omit<EventRun, 'workspaceId'>,
  ): Promise<Run<Event, EventMark>> {
    const run = { ...requested, workspaceId }
    const read = () => this.#store.read.events.run(run)
    if (!needsScan(run)) return read()
    try {
      return await this.#lists.run(workspaceId, read)
    } catch (error) {
      throw error instanceof ScanTooLong ? tooLong(run) : error
    }
  }
}

function tooLong({ types }: EventRun): Failure {
  const text = 'takes too long among so many events; set from and to closer together'
  return Failure.invalid({ [types === undefined ? 'actor' : 'type']: [text] })
}
