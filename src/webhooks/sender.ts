import type { Logger } from 'pino'
import { type Random, uuidV7 } from '../platform/crypto/random.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type Job, startPollingJob } from '../platform/work/polling-job.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import type { WebhookCaller } from './caller.ts'
import { Deliveries, type Disabled, disable, RENEWAL_MS } from './deliveries.ts'
import { Outbox, type OutboxStores } from './outbox.ts'
import { DAY_MICROS } from './retry-schedule.ts'
import type { AttemptStore } from './store/attempt-store.ts'

const DELIVERY_INTERVAL_MS = 250
/** A call with clicks for each endpoint in this time, at most. */
const CLICKS_INTERVAL_MS = 1_000
const TRIM_INTERVAL_MS = 10 * 60_000
const OVERFLOW_INTERVAL_MS = 30_000

const LOG_MICROS = 7 * DAY_MICROS
/** Attempts that the log keeps of one endpoint. */
const ATTEMPTS_MAX = 20_000
/** An endpoint at which more messages wait is disabled: the database would grow without a bound. */
const WAITING_MAX = 500_000

export type SenderStores = OutboxStores & {
  readonly webhookAttempts: AttemptStore
  readonly events: EventWriter
}

/**
 * Runs all that sends webhooks, for as long as a process does: makes messages, delivers them, goes on with replays, and
 * trims the log. Several processes may do so at once.
 */
export function startSender(deps: {
  readonly store: Store<SenderStores>
  readonly clock: Clock
  readonly random: Random
  readonly caller: WebhookCaller
  readonly onDisabled: (disabled: Disabled) => void
  readonly log: Logger
}): Job {
  const { store, clock, random, caller, onDisabled, log } = deps
  let isStopping = false
  const isCancelled = () => isStopping
  let wake = () => {}
  const outbox = new Outbox({
    ...{ store, clock, random },
    onClicksMissed: (err) => log.warn({ err }, 'clicks for webhooks may be missing'),
  })
  const deliveries = new Deliveries({
    ...{ store, clock, caller, onDisabled },
    random: Math.random,
    holder: uuidV7(clock, random),
    onError: (err) => log.warn({ err }, 'webhook delivery failed'),
    onSlotFree: () => wake(),
  })
  const every = (intervalMs: number, message: string, work: () => Promise<void>) =>
    startPollingJob({ work, intervalMs, message, log, cancel: () => {} })
  const delivering = every(DELIVERY_INTERVAL_MS, 'webhook job failed', async () => {
    await outbox.queueEvents(isCancelled)
    await deliveries.startDue()
  })
  wake = delivering.wake
  const jobs = [
    delivering,
    every(RENEWAL_MS, 'webhook leases not renewed', () => deliveries.renew()),
    every(CLICKS_INTERVAL_MS, 'clicks not queued for webhooks', () =>
      outbox.queueClicks(isCancelled),
    ),
    every(CLICKS_INTERVAL_MS, 'webhook replay failed', () => outbox.replay(isCancelled)),
    every(TRIM_INTERVAL_MS, 'trimming webhook attempts failed', () => trim(store, clock)),
    every(OVERFLOW_INTERVAL_MS, 'looking for full webhook queues failed', () =>
      disableOverflowing(store, clock, onDisabled),
    ),
  ]
  return {
    async stop() {
      isStopping = true
      await Promise.all([deliveries.stop(), ...jobs.map((job) => job.stop())])
      caller.close()
    },
  }
}

async function trim(store: Store<SenderStores>, clock: Clock): Promise<void> {
  const end = clock.nowMicros() - LOG_MICROS
  while (await store.write((stores) => stores.webhookAttempts.trim(end)));
  for (const id of await store.read.webhookAttempts.listWebhookIds()) {
    while (await store.write((stores) => stores.webhookAttempts.trimBeyond(id, ATTEMPTS_MAX)));
  }
}

async function disableOverflowing(
  store: Store<SenderStores>,
  clock: Clock,
  onDisabled: (disabled: Disabled) => void,
): Promise<void> {
  for (const id of await store.read.webhookOutbox.listOverflowing(WAITING_MAX)) {
    const webhook = await store.read.webhooks.findAny(id)
    if (webhook === undefined) continue
    const disabled: Disabled = { webhook, reason: 'overflow', fault: null, status: null }
    // Another process may have disabled it meanwhile, and sent the mail.
    if (await store.write((stores) => disable(stores, disabled, clock.nowMicros()))) {
      onDisabled(disabled)
    }
  }
}
