import type { LiveClick } from '@terse/contract/clicks'
import type { WebhookEvent } from '@terse/contract/webhook-events'
import { type ClickFeed, type FedClick, presentLive } from '../clicks/index.ts'
import type { Event, EventStore } from '../events/index.ts'
import { type Random, uuidV7 } from '../platform/crypto/random.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import {
  type Concern,
  clicksMessage,
  domainOf,
  isWanted,
  type LinkFacts,
  linkFacts,
  linkIdOf,
  logTypesOf,
  messageOf,
  webhookEventOf,
} from './messages.ts'
import { DAY_MICROS } from './retry-schedule.ts'
import type { MessageStore } from './store/message-store.ts'
import { type Cursor, type OutboxStore, Overtaken, type Replay } from './store/outbox-store.ts'
import type { WebhookStore } from './store/webhook-store.ts'
import type { NewMessage, Webhook } from './webhook.ts'

/** Events of one transaction. */
const EVENTS_PER_STEP = 500
/** Clicks of one transaction; a bound for memory too. */
const CLICKS_PER_STEP = 20_000
/** Clicks of one call. */
const CLICKS_PER_CALL = 1_000
/** Clicks that are counted later than this after they happened are not sent. */
const CLICK_AGE_MICROS_MAX = DAY_MICROS
/** A replay pauses while this many messages wait. */
const REPLAY_WAITING_MAX = 2_000
const REPLAYS_PER_TURN = 64

export type OutboxStores = {
  readonly webhooks: WebhookStore
  readonly webhookMessages: MessageStore
  readonly webhookOutbox: OutboxStore
  readonly events: Pick<EventStore, 'since' | 'end' | 'walk'>
  readonly links: {
    findMany(workspaceId: string, ids: readonly string[]): Promise<readonly LinkFacts[]>
  }
  readonly feed: ClickFeed
}

type Queued = { readonly webhook: Webhook; readonly message: NewMessage }

type Dependencies = {
  readonly store: Store<OutboxStores>
  readonly clock: Clock
  readonly random: Random
  /** Called when clicks may have been left out, with the reason. */
  readonly onClicksMissed: (error: unknown) => void
}

/** Returns where a reader of clicks begins. */
export function clicksFrom(nowMicros: number): number {
  return nowMicros - CLICK_AGE_MICROS_MAX
}

/**
 * Turns the event log, and the clicks that were ingested, into messages for endpoints. Several nodes may do it at once:
 * each step moves a cursor in the transaction that queues its messages, and one of two steps from the same place fails.
 */
export class Outbox {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Queues all events that were committed so far. */
  async queueEvents(isCancelled: () => boolean): Promise<void> {
    while (!isCancelled() && (await unlessStale(() => this.#queueSomeEvents())));
  }

  /** Queues all clicks that were ingested so far. Call it once a second: each call makes a message for each endpoint. */
  async queueClicks(isCancelled: () => boolean): Promise<void> {
    while (!isCancelled() && (await unlessStale(() => this.#queueSomeClicks())));
  }

  /** Goes on with the replays of periods, as far as there is room. */
  async replay(isCancelled: () => boolean): Promise<void> {
    for (const replay of await this.#deps.store.read.webhookOutbox.listOpenReplays(
      REPLAYS_PER_TURN,
    )) {
      if (isCancelled()) return
      await unlessStale(() => this.#replaySome(replay))
    }
  }

  /** Returns whether there may be more. */
  async #queueSomeEvents(): Promise<boolean> {
    const { store, clock } = this.#deps
    const { read } = store
    const cursor = await read.webhookOutbox.findCursor('events')
    if (cursor === undefined) return false
    // Before the endpoints are read: one that is added later has its events behind this position.
    const { events, cursor: position } = await read.events.since(cursor.position, EVENTS_PER_STEP)
    if (!(await read.webhooks.hasEnabled())) {
      await store.write((stores) => stores.webhookOutbox.end('events', cursor))
      return false
    }
    if (events.length === 0) return false
    const found = events.flatMap((logged) => {
      const event = webhookEventOf(logged)
      return event === undefined ? [] : [{ event, logged }]
    })
    const webhooks = await read.webhooks.listEnabled([
      ...new Set(found.map(({ logged }) => logged.workspaceId)),
    ])
    const queued = await messagesFor(read.links, found, webhooks)
    await store.write(async (stores) => {
      await stores.webhookOutbox.move('events', position, cursor)
      await stores.webhookMessages.enqueue(queued, clock.nowMicros())
    })
    return events.length === EVENTS_PER_STEP
  }

  async #queueSomeClicks(): Promise<boolean> {
    const { store, clock } = this.#deps
    const { read } = store
    const cursor = await read.webhookOutbox.findCursor('clicks')
    if (cursor === undefined) return false
    const workspaceIds = await read.webhooks.workspacesFor('link.clicked')
    if (workspaceIds.length === 0) {
      await store.write((stores) => stores.webhookOutbox.end('clicks', cursor))
      return false
    }
    const webhooks = (await read.webhooks.listEnabled(workspaceIds)).filter(({ events }) =>
      events.includes('link.clicked'),
    )
    const { position, clicks } = await this.#readClicks(cursor, webhooks)
    const now = clock.nowMicros()
    const queued = webhooks.flatMap((webhook) => this.#clickMessages(webhook, clicks, now))
    if (position === cursor.position) return false
    await store.write(async (stores) => {
      await stores.webhookOutbox.move('clicks', position, cursor)
      await stores.webhookMessages.enqueue(queued, now)
    })
    return clicks.length >= CLICKS_PER_STEP
  }

  async #readClicks(
    cursor: Cursor,
    webhooks: readonly Webhook[],
  ): Promise<{ readonly position: string; readonly clicks: readonly FedClick[] }> {
    const { store, clock, onClicksMissed } = this.#deps
    const { feed } = store.read
    const clicks: FedClick[] = []
    const fromMicros = clicksFrom(clock.nowMicros())
    const wanted = {
      workspaceIds: [...new Set(webhooks.map(({ workspace_id }) => workspace_id))],
      fromMicros,
      linkValues: webhooks.some(({ tags }) => tags.length > 0),
      limit: CLICKS_PER_STEP,
    }
    try {
      const position = await feed.since(cursor.position, wanted, (page) => clicks.push(...page))
      return { position, clicks }
    } catch (error) {
      // The database was restored or failed over: which clicks were read is unknown.
      if (!(error instanceof Error && error.name === 'FeedInterrupted')) throw error
      onClicksMissed(error)
      return { position: await feed.end(fromMicros), clicks: [] }
    }
  }

  #clickMessages(webhook: Webhook, clicks: readonly FedClick[], now: number): readonly Queued[] {
    const { clock, random } = this.#deps
    const { workspace_id, domains, tags } = webhook
    const own = clicks.filter(
      (click) =>
        click.workspace_id === workspace_id &&
        (domains.length === 0 || (click.host !== null && domains.includes(click.host))) &&
        (tags.length === 0 || click.ofLink?.tag.some((tag) => tags.includes(tag)) === true),
    )
    const queued: Queued[] = []
    for (let start = 0; start < own.length; start += CLICKS_PER_CALL) {
      const some: LiveClick[] = own.slice(start, start + CLICKS_PER_CALL).map(presentLive)
      const message = clicksMessage(uuidV7(clock, random), workspace_id, some, now)
      queued.push({ webhook, message })
    }
    return queued
  }

  async #replaySome(replay: Replay): Promise<boolean> {
    const { store, clock } = this.#deps
    const { read } = store
    const { webhook_id, after } = replay
    const webhook = await read.webhooks.findAny(webhook_id)
    const now = clock.nowMicros()
    if (webhook === undefined || webhook.disabled_at !== null) {
      await store.write((stores) => stores.webhookOutbox.updateReplay({ ...replay, done_at: now }))
      return false
    }
    const waiting = await read.webhookOutbox.countWaiting(webhook_id, REPLAY_WAITING_MAX)
    if (waiting >= REPLAY_WAITING_MAX) return false
    const { queued, last } = await nextOfReplay(read, webhook, replay)
    const isDone = last === undefined
    await store.write(async (stores) => {
      await stores.webhookOutbox.updateReplay({
        ...replay,
        after: last ?? after,
        queued: replay.queued + queued.length,
        done_at: isDone ? now : null,
      })
      await stores.webhookMessages.enqueue(queued, now, { again: true })
    })
    return !isDone
  }
}

/**
 * Returns the next messages of a replay, and the last event that was read for them; undefined at the end of the period.
 */
export async function nextOfReplay(
  read: Pick<OutboxStores, 'events' | 'links' | 'webhookOutbox'>,
  webhook: Webhook,
  {
    events,
    onlyUndelivered,
    ...period
  }: Pick<Replay, 'fromMicros' | 'toMicros' | 'events' | 'onlyUndelivered' | 'after'>,
): Promise<{ readonly queued: readonly Queued[]; readonly last: Event | undefined }> {
  const { fromMicros, toMicros, after } = period
  const logged = await read.events.walk({
    workspaceId: webhook.workspace_id,
    types: logTypesOf(events),
    ...{ fromMicros, toMicros, after },
    limit: EVENTS_PER_STEP,
  })
  const found = logged.flatMap((each) => {
    const event = webhookEventOf(each)
    return event === undefined ? [] : [{ event, logged: each }]
  })
  const all = await messagesFor(read.links, found, [{ ...webhook, events, created_at: 0 }])
  const received = onlyUndelivered
    ? await read.webhookOutbox.deliveredAmong(
        webhook.id,
        all.map(({ message }) => message.message_id),
      )
    : new Set<string>()
  const queued = all.filter(({ message }) => !received.has(message.message_id))
  return { queued, last: logged.at(-1) }
}

/** The messages of events, for the endpoints that want them. */
async function messagesFor(
  links: OutboxStores['links'],
  found: readonly { readonly event: WebhookEvent; readonly logged: Event }[],
  webhooks: readonly Webhook[],
): Promise<readonly Queued[]> {
  const byWorkspace = Map.groupBy(webhooks, ({ workspace_id }) => workspace_id)
  const wanted = found.filter(({ event, logged }) =>
    byWorkspace.get(logged.workspaceId)?.some((each) => each.events.includes(event)),
  )
  const known = await linksOf(links, wanted)
  return wanted.flatMap(({ event, logged }) => {
    const concern = concernOf(event, logged, known)
    const message = messageOf(event, logged, concern)
    return (byWorkspace.get(logged.workspaceId) ?? []).flatMap((webhook) =>
      logged.at >= webhook.created_at && isWanted(webhook, event, concern)
        ? { webhook, message }
        : [],
    )
  })
}

async function linksOf(
  store: OutboxStores['links'],
  found: readonly { readonly event: WebhookEvent; readonly logged: Event }[],
): Promise<ReadonlyMap<string, LinkFacts>> {
  const links = new Map<string, LinkFacts>()
  for (const [workspaceId, entries] of Map.groupBy(found, ({ logged }) => logged.workspaceId)) {
    const named = entries.flatMap(({ event, logged }) => linkIdOf(event, logged) ?? [])
    const ids = [...new Set(named)]
    for (const link of await store.findMany(workspaceId, ids)) {
      links.set(link.id, link)
    }
  }
  return links
}

function concernOf(
  event: WebhookEvent,
  logged: Event,
  links: ReadonlyMap<string, LinkFacts>,
): Concern {
  const id = linkIdOf(event, logged)
  if (id === undefined) return { domain: domainOf(event, logged) }
  const link = links.get(id)
  return {
    link: id === logged.subjectId ? linkFacts(logged, link) : link && linkFacts(logged, link),
  }
}

/** Another node that went on from the same place has done the step. */
async function unlessStale(step: () => Promise<boolean>): Promise<boolean> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof Overtaken) return true
    throw error
  }
}
