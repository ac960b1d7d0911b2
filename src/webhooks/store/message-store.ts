import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { leaseRoundRobin } from '../../platform/work/leases.ts'
import type { Schema } from '../../storage/schema.ts'
import { HALF_DAY_MICROS, isOpen, OPEN_FROM_FAILURES } from '../retry-schedule.ts'
import type { Message, NewMessage, Outcome, Webhook, WebhookQueue } from '../webhook.ts'
import { queueColumns, queueOf, webhookOf } from './webhook-store.ts'

/** An endpoint of which one process delivers the messages. */
export type LeasedWebhook = {
  readonly webhook: Webhook
  readonly workspaceId: string
  readonly queue: WebhookQueue
  /** Incremented by each lease: results under an older fence are refused. */
  readonly fence: number
}

/** An attempt, and what follows from it for the message. */
export type Concluded = {
  readonly message: Message
  readonly outcome: Outcome
  /** When it is tried again; null when it was delivered, or is given up. */
  readonly nextAt: number | null
}

/** What follows from attempts for the queue of their endpoint. */
export type QueueState = Omit<WebhookQueue, 'webhook_id' | 'next_at'>

/** The messages that wait at endpoints, and the leases of those that deliver them. */
export type MessageStore = {
  /**
   * Queues messages for endpoints.
   *
   * @param how.again whether messages that an endpoint has already are sent again; else they are left out
   */
  enqueue(
    messages: readonly { readonly webhook: Webhook; readonly message: NewMessage }[],
    now: number,
    how?: { readonly again: boolean },
  ): Promise<void>
  /** The workspaces of endpoints that became due between two instants, both included. */
  findDueWorkspaces(from: number, to: number): Promise<readonly string[]>
  /** Leases endpoints that are due and not leased, round robin across workspaces. */
  leaseDue(
    shares: ReadonlyMap<string, number>,
    lease: { readonly holder: string; readonly now: number; readonly until: number },
    limit: number,
  ): Promise<{ readonly leases: readonly LeasedWebhook[]; readonly idle: readonly string[] }>
  /** Prolongs all leases of a process. */
  renew(holder: string, until: number): Promise<void>
  /** The messages to send now; in their order where the endpoint keeps it. */
  due(leased: LeasedWebhook, now: number, limit: number): Promise<readonly Message[]>
  /**
   * Stores attempts and what follows from them. Returns false when the lease was lost: another process then sends the
   * messages again.
   */
  conclude(
    leased: LeasedWebhook,
    concluded: readonly Concluded[],
    state: QueueState,
    now: number,
  ): Promise<boolean>
  /** Ends a lease, if it was not lost. */
  release(leased: LeasedWebhook, now: number): Promise<void>
  /** Gives up all messages that wait at an endpoint; they can be replayed. */
  giveUp(webhookId: string): Promise<void>
  /** Takes an endpoint for healthy again. */
  forgetFaults(webhookId: string): Promise<void>
  /** Stores an attempt of a message that no queue has: a test. */
  logTest(webhookId: string, message: NewMessage, outcome: Outcome): Promise<number>
  /** Sends a message again, whatever became of it. Returns false when there is none. */
  requeue(webhookId: string, messageId: string, now: number): Promise<boolean>
  /** Sends the messages of a period again, in their order; returns how many. */
  requeuePeriod(webhookId: string, period: RequeuedPeriod, now: number): Promise<number>
}

type RequeuedPeriod = {
  readonly fromMicros: number
  readonly toMicros: number
  readonly events: readonly string[]
  readonly onlyUndelivered: boolean
}

const INSERT_ROWS_MAX = 50

export function messageStore(db: Kysely<Schema>): MessageStore {
  return { ...queues(db), ...states(db), ...leases(db), ...results(db) }
}

function chunksOf<T>(items: readonly T[]): readonly T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < items.length; start += INSERT_ROWS_MAX) {
    chunks.push(items.slice(start, start + INSERT_ROWS_MAX))
  }
  return chunks
}

/** Makes queues due; one whose receiver is down stays with the time of its next try. */
async function wake(db: Kysely<Schema>, webhookIds: readonly string[], now: number): Promise<void> {
  // In one order, so that two transactions cannot wait for each other.
  for (const chunk of chunksOf(webhookIds.toSorted())) {
    await db
      .updateTable('webhook_queues')
      .set({ next_at: now })
      .where('webhook_id', 'in', chunk)
      .where((eb) =>
        eb.or([
          eb('next_at', 'is', null),
          eb.and([eb('next_at', '>', now), eb('failures', '<', OPEN_FROM_FAILURES)]),
        ]),
      )
      .execute()
  }
}

function queues(
  db: Kysely<Schema>,
): Pick<MessageStore, 'enqueue' | 'logTest' | 'requeue' | 'requeuePeriod'> {
  return {
    async enqueue(messages, now, { again } = { again: false }) {
      const rows = messages.map(({ webhook, message }) => ({
        ...message,
        webhook_id: webhook.id,
        tries: 0,
        next_at: now,
        delivered_at: null,
        queued_at: now,
      }))
      for (const chunk of chunksOf(rows)) {
        await db
          .insertInto('webhook_messages')
          .values(chunk)
          .onConflict((conflict) => {
            const known = conflict.columns(['webhook_id', 'message_id'])
            const fresh = { tries: 0, next_at: now, delivered_at: null, queued_at: now }
            return again ? known.doUpdateSet(fresh) : known.doNothing()
          })
          .execute()
      }
      await wake(db, [...new Set(rows.map(({ webhook_id }) => webhook_id))], now)
    },

    async logTest(webhookId, message, outcome) {
      const { at } = outcome
      const sent = { tries: 1, next_at: null, queued_at: at }
      const delivered_at = outcome.fault === null ? at : null
      await db
        .insertInto('webhook_messages')
        .values({ ...message, webhook_id: webhookId, ...sent, delivered_at })
        .execute()
      const { number } = await db
        .insertInto('webhook_attempts')
        .values(attemptRow(webhookId, { ...message, tries: 0 }, outcome))
        .returning('number')
        .executeTakeFirstOrThrow()
      return number
    },

    async requeue(webhookId, messageId, now) {
      const result = await db
        .updateTable('webhook_messages')
        .set({ tries: 0, next_at: now, delivered_at: null, queued_at: now })
        .where('webhook_id', '=', webhookId)
        .where('message_id', '=', messageId)
        .executeTakeFirst()
      if (result.numUpdatedRows === 0n) return false
      await db
        .updateTable('webhook_queues')
        .set({ next_at: now })
        .where('webhook_id', '=', webhookId)
        .execute()
      return true
    },

    async requeuePeriod(webhookId, { fromMicros, toMicros, events, onlyUndelivered }, now) {
      const result = await db
        .updateTable('webhook_messages')
        .set({ tries: 0, next_at: now, delivered_at: null, queued_at: now })
        .where('webhook_id', '=', webhookId)
        .where('at', '>=', fromMicros)
        .where('at', '<', toMicros)
        .where('event', 'in', events)
        .$if(onlyUndelivered, (query) => query.where('delivered_at', 'is', null))
        .executeTakeFirst()
      await wake(db, [webhookId], now)
      return Number(result.numUpdatedRows)
    },
  }
}

function states(db: Kysely<Schema>): Pick<MessageStore, 'giveUp' | 'forgetFaults'> {
  return {
    async giveUp(webhookId) {
      await db
        .updateTable('webhook_messages')
        .set({ next_at: null })
        .where('webhook_id', '=', webhookId)
        .where('next_at', 'is not', null)
        .execute()
      await db
        .updateTable('webhook_queues')
        .set((eb) => ({ next_at: null, lease_until: null, fence: eb('fence', '+', 1) }))
        .where('webhook_id', '=', webhookId)
        .execute()
    },

    async forgetFaults(webhookId) {
      await db
        .updateTable('webhook_queues')
        .set({ failures: 0, failing_since: null, fault: null, fault_status: null })
        .where('webhook_id', '=', webhookId)
        .execute()
    },
  }
}

function leases(
  db: Kysely<Schema>,
): Pick<MessageStore, 'findDueWorkspaces' | 'leaseDue' | 'renew' | 'due'> {
  return {
    async findDueWorkspaces(from, to) {
      const rows = await db
        .selectFrom('webhook_queues')
        .select('workspace_id')
        .distinct()
        .where('next_at', '>=', from)
        .where('next_at', '<=', to)
        .execute()
      return rows.map(({ workspace_id }) => workspace_id)
    },

    leaseDue: (shares, { holder, now, until }, limit) =>
      leaseRoundRobin({
        shares,
        limit,
        find: (workspaceId, count) =>
          db
            .selectFrom('webhook_queues as queue')
            .innerJoin('webhooks', 'webhooks.id', 'queue.webhook_id')
            .innerJoin('workspaces', 'workspaces.id', 'queue.workspace_id')
            .selectAll('webhooks')
            .select(queueColumns('queue'))
            .select('queue.fence')
            .where('queue.workspace_id', '=', workspaceId)
            .where('queue.next_at', '<=', now)
            .where('webhooks.disabled_at', 'is', null)
            .where('workspaces.deleted_at', 'is', null)
            .where((eb) =>
              eb.or([eb('queue.lease_until', 'is', null), eb('queue.lease_until', '<=', now)]),
            )
            .orderBy('queue.next_at')
            .limit(count)
            .execute(),
        async take(row): Promise<LeasedWebhook | undefined> {
          const fence = row.fence + 1
          const result = await db
            .updateTable('webhook_queues')
            .set({ fence, lease_holder: holder, lease_until: until })
            .where('webhook_id', '=', row.id)
            .where('fence', '=', row.fence)
            .executeTakeFirst()
          if (result.numUpdatedRows === 0n) return undefined
          const { workspace_id: workspaceId } = row
          return { webhook: webhookOf(row), queue: queueOf(row), workspaceId, fence }
        },
      }),

    async renew(holder, until) {
      await db
        .updateTable('webhook_queues')
        .set({ lease_until: until })
        .where('lease_holder', '=', holder)
        .where('lease_until', 'is not', null)
        .execute()
    },

    due: ({ webhook, queue }, now, limit) =>
      webhook.ordered
        ? headOf(db, { webhookId: webhook.id, queue, now, limit })
        : dueOf(db, { webhookId: webhook.id, queue, now, limit }),
  }
}

const MESSAGE_COLUMNS = [
  'number',
  'message_id',
  'event',
  'is_clicks',
  'body',
  'tries',
  'next_at',
  'queued_at',
] as const

const CLICKS_INTERVAL_MICROS = 1_000_000

type Due = { webhookId: string; queue: WebhookQueue; now: number; limit: number }

function areClicksDue({ queue, now }: Due): boolean {
  return now - queue.clicked_at >= CLICKS_INTERVAL_MICROS
}

/** The first messages that wait, up to one that is not due, or up to one with clicks. */
async function headOf(db: Kysely<Schema>, on: Due): Promise<readonly Message[]> {
  const { webhookId, now, limit } = on
  const rows = await db
    .selectFrom('webhook_messages')
    .select(MESSAGE_COLUMNS)
    .where('webhook_id', '=', webhookId)
    .where('next_at', 'is not', null)
    .orderBy('number')
    .limit(limit)
    .execute()
  const end = rows.findIndex(({ next_at }) => next_at === null || next_at > now)
  const due = end < 0 ? rows : rows.slice(0, end)
  const clicks = due.findIndex(({ is_clicks }) => is_clicks === 1)
  return clicks < 0 ? due : due.slice(0, areClicksDue(on) ? clicks + 1 : clicks)
}

/** Messages in any order: one alone where the receiver is down, and one with clicks a second. */
async function dueOf(db: Kysely<Schema>, on: Due): Promise<readonly Message[]> {
  const { webhookId, queue, now, limit } = on
  const select = () =>
    db
      .selectFrom('webhook_messages')
      .select(MESSAGE_COLUMNS)
      .where('webhook_id', '=', webhookId)
      .where('next_at', '<=', now)
  const isClicksTurn = areClicksDue(on)
  if (isOpen(queue)) {
    return select()
      .$if(!isClicksTurn, (query) => query.where('is_clicks', '=', 0))
      .orderBy('tries', 'desc')
      .orderBy('number')
      .limit(1)
      .execute()
  }
  const others = await select()
    .where('is_clicks', '=', 0)
    .orderBy('next_at')
    .orderBy('number')
    .limit(limit)
    .execute()
  if (!isClicksTurn) return others
  const clicks = await select().where('is_clicks', '=', 1).orderBy('number').limit(1).execute()
  return [...clicks, ...others]
}

function results(db: Kysely<Schema>): Pick<MessageStore, 'conclude' | 'release'> {
  return {
    async conclude({ webhook, queue, fence }, concluded, state, now) {
      const kept = await db
        .updateTable('webhook_queues')
        .set(state)
        .where('webhook_id', '=', webhook.id)
        .where('fence', '=', fence)
        .executeTakeFirst()
      if (kept.numUpdatedRows === 0n) return false
      const delivered = concluded.filter(({ outcome }) => outcome.fault === null)
      const failed = concluded.filter(({ outcome }) => outcome.fault !== null)
      for (const chunk of chunksOf(delivered)) {
        await db
          .updateTable('webhook_messages')
          .set((eb) => ({ tries: eb('tries', '+', 1), next_at: null, delivered_at: now }))
          .where(
            'number',
            'in',
            chunk.map(({ message }) => message.number),
          )
          .execute()
      }
      for (const { message, nextAt } of failed) {
        await db
          .updateTable('webhook_messages')
          .set({ tries: message.tries + 1, next_at: nextAt })
          .where('number', '=', message.number)
          .execute()
      }
      for (const chunk of chunksOf(concluded)) {
        const rows = chunk.map(({ message, outcome }) => attemptRow(webhook.id, message, outcome))
        await db.insertInto('webhook_attempts').values(rows).execute()
      }
      await tally(db, webhook.id, { delivered: delivered.length, failed: failed.length, now })
      if (isOpen(queue) && !isOpen(state)) {
        await db
          .updateTable('webhook_messages')
          .set({ next_at: now })
          .where('webhook_id', '=', webhook.id)
          .where('next_at', '>', now)
          .execute()
      }
      return true
    },

    async release({ webhook, fence }, now) {
      // First, so that messages which others add before the time is computed are seen, or wake it afterwards.
      const ended = await db
        .updateTable('webhook_queues')
        .set({ lease_until: null, lease_holder: null })
        .where('webhook_id', '=', webhook.id)
        .where('fence', '=', fence)
        .executeTakeFirst()
      if (ended.numUpdatedRows === 0n) return
      const next = await nextTimeOf(db, webhook)
      // Not before now: processes look for what has become due since they looked last.
      const next_at = next === null ? null : Math.max(next, now)
      await db
        .updateTable('webhook_queues')
        .set({ next_at })
        .where('webhook_id', '=', webhook.id)
        .execute()
    },
  }
}

/** Returns when the next message of an endpoint is due; null when none waits. */
async function nextTimeOf(db: Kysely<Schema>, { id, ordered }: Webhook): Promise<number | null> {
  const waiting = () =>
    db.selectFrom('webhook_messages').where('webhook_id', '=', id).where('next_at', 'is not', null)
  const queue = await db
    .selectFrom('webhook_queues')
    .select(['clicked_at', 'failures'])
    .where('webhook_id', '=', id)
    .executeTakeFirstOrThrow()
  const clicksFrom = queue.clicked_at + CLICKS_INTERVAL_MICROS
  if (ordered) {
    const head = await waiting()
      .select(['next_at', 'is_clicks'])
      .orderBy('number')
      .limit(1)
      .executeTakeFirst()
    if (head === undefined || head.next_at === null) return null
    return head.is_clicks === 1 ? Math.max(head.next_at, clicksFrom) : head.next_at
  }
  const first = (isTried: boolean) => (eb: ExpressionBuilder<Schema, 'webhook_messages'>) =>
    isTried ? eb('tries', '>', 0) : sql<boolean>`1 = 1`
  const earliest = async (isClicks: number, isTried: boolean) => {
    const row = await waiting()
      .select((eb) => eb.fn.min('next_at').as('at'))
      .where('is_clicks', '=', isClicks)
      .where(first(isTried))
      .executeTakeFirst()
    return row?.at === null || row === undefined ? undefined : Number(row.at)
  }
  const timeOf = async (isTried: boolean) => {
    const others = await earliest(0, isTried)
    const clicks = await earliest(1, isTried)
    const times = [others, clicks === undefined ? undefined : Math.max(clicks, clicksFrom)]
    const known = times.filter((time) => time !== undefined)
    return known.length === 0 ? null : Math.min(...known)
  }
  // While the receiver is down, messages that were not tried wait behind those that were.
  return (isOpen(queue) ? await timeOf(true) : null) ?? (await timeOf(false))
}

async function tally(
  db: Kysely<Schema>,
  webhook_id: string,
  { delivered, failed, now }: { delivered: number; failed: number; now: number },
): Promise<void> {
  const half_day = Math.floor(now / HALF_DAY_MICROS)
  await db
    .insertInto('webhook_tallies')
    .values({ webhook_id, half_day, delivered, failed })
    .onConflict((conflict) =>
      conflict.columns(['webhook_id', 'half_day']).doUpdateSet((eb) => ({
        delivered: eb('webhook_tallies.delivered', '+', delivered),
        failed: eb('webhook_tallies.failed', '+', failed),
      })),
    )
    .execute()
}

function attemptRow(
  webhook_id: string,
  { message_id, event, tries }: Pick<Message, 'message_id' | 'event' | 'tries'>,
  { at, took_ms, status, fault, url, requestHeaders, response }: Outcome,
) {
  return {
    webhook_id,
    message_id,
    event,
    try: tries + 1,
    ...{ at, took_ms, status, fault, url },
    request_headers: JSON.stringify(requestHeaders),
    response_headers: response && JSON.stringify(response.headers),
    response_body: response?.body ?? null,
  }
}
