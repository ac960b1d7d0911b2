import { WEBHOOK_EVENTS, type WebhookEvent } from '@terse/contract/webhook-events'
import { Failure } from '../platform/failure.ts'
import { nextOfReplay, type OutboxStores } from './outbox.ts'
import type { Replay } from './store/outbox-store.ts'
import type { Webhook } from './webhook.ts'

/** Pages of the event log that a count reads at most: it shares the main thread with redirects. */
const PAGES_COUNTED_MAX = 4
const CLICK_CALLS_COUNTED_MAX = 10_000

export type PeriodReplay = {
  readonly fromMicros: number
  /** Now when undefined. */
  readonly toMicros: number | undefined
  readonly events: readonly WebhookEvent[] | undefined
  readonly onlyUndelivered: boolean
}

/** What a replay reads. The calls of `clicks` are in the queue; those of other events are made from the event log. */
export type ReplayRange = Omit<Replay, 'webhook_id' | 'queued' | 'done_at' | 'revision'> & {
  readonly clicks: readonly WebhookEvent[]
}

/**
 * Returns what a replay of an endpoint reads.
 *
 * @throws {Failure} `validation_failed`
 */
export function rangeOf(webhook: Webhook, period: PeriodReplay, now: number): ReplayRange {
  const { fromMicros, toMicros = now, events = webhook.events, onlyUndelivered } = period
  if (fromMicros >= toMicros) {
    throw Failure.invalid({ from: [{ code: 'invalid_period', reason: 'reversed' }] })
  }
  if (!events.every((event) => webhook.events.includes(event))) {
    throw Failure.invalid({ events: [{ code: 'not_one_of', allowed: webhook.events }] })
  }
  const clicks = events.filter((event) => WEBHOOK_EVENTS[event].about === 'clicks')
  const after = { at: fromMicros - 1, sequence: 0 }
  return { fromMicros, toMicros, events, onlyUndelivered, after, clicks }
}

/** Counts the calls of a replay. `isComplete` is false where a limit of the count was reached. */
export async function countCalls(
  read: Pick<OutboxStores, 'events' | 'links' | 'webhookOutbox'>,
  webhook: Webhook,
  range: ReplayRange,
): Promise<{ readonly calls: number; readonly isComplete: boolean }> {
  const ofClicks = { ...range, events: range.clicks }
  const { webhookOutbox } = read
  let calls = await webhookOutbox.countPeriod(webhook.id, ofClicks, CLICK_CALLS_COUNTED_MAX)
  const areClicksCounted = calls < CLICK_CALLS_COUNTED_MAX
  let { after } = range
  for (let page = 0; page < PAGES_COUNTED_MAX; page += 1) {
    const { queued, last } = await nextOfReplay(read, webhook, { ...range, after })
    calls += queued.length
    if (last === undefined) return { calls, isComplete: areClicksCounted }
    after = { at: last.at, sequence: last.sequence }
  }
  return { calls, isComplete: false }
}
