import type { Actor } from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import type { Run } from '../platform/http/api/pagination.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import { ScanTooLong } from '../storage/scans.ts'
import type { Store } from '../storage/store.ts'
import {
  type Event,
  type EventMark,
  type EventRun,
  type EventStore,
  type NamedEvent,
  needsScan,
} from './store/event-store.ts'

/** Running scans for types or actors take turns to read, so their number costs memory only, not latency. */
export const EVENT_QUEUE: FairQueueOptions = {
  work: 'event lists',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 16,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

type Link = { readonly id: string; readonly domain: string; readonly key: string }

type EventStores = {
  readonly events: EventStore
  readonly links: {
    findMany(workspaceId: string, ids: readonly string[]): Promise<readonly Link[]>
  }
}

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
  ): Promise<Run<NamedEvent, EventMark>> {
    const { items, rest } = await this.#run({ ...requested, workspaceId })
    return { items: await this.#named(workspaceId, items), rest }
  }

  async #run(run: EventRun): Promise<Run<Event, EventMark>> {
    const read = () => this.#store.read.events.run(run)
    if (!needsScan(run)) return read()
    try {
      return await this.#lists.run(run.workspaceId, read)
    } catch (error) {
      throw error instanceof ScanTooLong ? tooLong(run) : error
    }
  }

  /** A change of a link holds only the fields that it changed: the link has the rest, or an event beside it. */
  async #named(workspaceId: string, events: readonly Event[]): Promise<readonly NamedEvent[]> {
    const ofLinks = events.filter(({ type }) => type.startsWith('link.'))
    const names = new Map<string, string>()
    for (const { subjectId, before, after } of ofLinks.toReversed()) {
      const { domain, key } = { ...before, ...after }
      if (domain !== undefined && key !== undefined) names.set(subjectId, `${domain}/${key}`)
    }
    const ids = [...new Set(ofLinks.map(({ subjectId }) => subjectId))]
    for (const { id, domain, key } of await this.#store.read.links.findMany(workspaceId, ids)) {
      names.set(id, `${domain}/${key}`)
    }
    return events.map((event) => ({ ...event, subjectName: names.get(event.subjectId) ?? null }))
  }
}

function tooLong({ types }: EventRun): Failure {
  return Failure.invalid({
    [types === undefined ? 'actor' : 'type']: [{ code: 'too_slow', reason: 'events' }],
  })
}
