import type { AttemptFault, DisabledReason } from '@terse/contract/webhooks'
import { systemActor } from '../identity/index.ts'
import type { Clock } from '../platform/time/clock.ts'
import { DueOwners, LeaseRunner } from '../platform/work/leases.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import type { WebhookCaller } from './caller.ts'
import { decideRetry, TRYING_MICROS } from './retry-schedule.ts'
import type { Concluded, LeasedWebhook, MessageStore, QueueState } from './store/message-store.ts'
import type { WebhookStore } from './store/webhook-store.ts'
import { type Message, type Outcome, type Webhook, webhookDisabled } from './webhook.ts'

/** Endpoints that are served at once. Each has a slot, so that a slow one delays no other. */
const ENDPOINTS_MAX = 1_024
/** Of one workspace. */
const ENDPOINTS_PER_WORKSPACE_MAX = 100
/** Calls under way at one endpoint, unless it keeps the order. */
const CALLS_PER_ENDPOINT_MAX = 8
/** Messages of one look at a queue. */
const MESSAGES_PER_STEP = 64
/** Where the order is kept, so that few are sent again after a kill. */
const ORDERED_PER_STEP = 16
/** Then an endpoint gives its slot to the next. */
const TURN_MICROS = 5_000_000
/** Renewed while the process runs, so that one that was killed is followed after some seconds. */
const LEASE_MICROS = 10_000_000
/** How often endpoints are sought that a killed process has left. There is a row for each that is due, not for each call. */
const FULL_SCAN_MICROS = 3_000_000
/** When a lease is renewed. */
export const RENEWAL_MS = 2_000

const GONE = 410

export type DeliveryStores = {
  readonly webhooks: WebhookStore
  readonly webhookMessages: MessageStore
  readonly events: EventWriter
}

/** An endpoint that the service has disabled. */
export type Disabled = {
  readonly webhook: Webhook
  readonly reason: DisabledReason
  readonly fault: AttemptFault | null
  readonly status: number | null
}

type Dependencies = {
  readonly store: Store<DeliveryStores>
  readonly clock: Clock
  readonly caller: Pick<WebhookCaller, 'call'>
  /** From 0 to 1. */
  readonly random: () => number
  /** Names this process in leases. */
  readonly holder: string
  readonly onDisabled: (disabled: Disabled) => void
  readonly onError: (error: unknown) => void
  /** Called when an endpoint was served, so that another can be. */
  readonly onSlotFree: () => void
}

const deliveries = systemActor('webhooks')

/** Sends the messages that wait at endpoints, in turn between workspaces. */
export class Deliveries {
  readonly #deps: Dependencies
  readonly #owners: DueOwners
  readonly #running: LeaseRunner<LeasedWebhook>
  readonly #stopping = new AbortController()

  constructor(deps: Dependencies) {
    const { store, onError, onSlotFree } = deps
    this.#deps = deps
    this.#owners = new DueOwners(
      (from, to) => store.read.webhookMessages.findDueWorkspaces(from, to),
      FULL_SCAN_MICROS,
    )
    this.#running = new LeaseRunner<LeasedWebhook>({
      concurrency: ENDPOINTS_MAX,
      concurrencyPerWorkspace: ENDPOINTS_PER_WORKSPACE_MAX,
      run: async (leased) => {
        try {
          await this.#serve(leased)
        } catch (error) {
          if (!this.#stopping.signal.aborted) onError(error)
        }
      },
      onSlotFree,
    })
  }

  /** Starts to serve endpoints that are due, round robin across workspaces. */
  async startDue(): Promise<void> {
    const { store, clock, holder } = this.#deps
    const running = this.#running
    await this.#owners.refresh(clock.nowMicros())
    for (;;) {
      const now = clock.nowMicros()
      const inTurn = this.#owners.next().map((id) => [id, running.freeSlotsOf(id)] as const)
      const shares = new Map(inTurn.filter(([, slots]) => slots > 0))
      if (this.#stopping.signal.aborted || running.freeSlots === 0 || shares.size === 0) return
      const lease = { holder, now, until: now + LEASE_MICROS }
      const { leases, idle } = await store.write((stores) =>
        stores.webhookMessages.leaseDue(shares, lease, running.freeSlots),
      )
      for (const leased of leases) running.start(leased)
      this.#owners.settle(new Set(leases.map(({ workspaceId }) => workspaceId)), idle)
      if (leases.length === 0 && idle.length === 0) return
    }
  }

  /** Keeps the leases of the endpoints that are served. Call it every `RENEWAL_MS`. */
  async renew(): Promise<void> {
    const { store, clock, holder } = this.#deps
    if (this.#running.leases[Symbol.iterator]().next().done) return
    const until = clock.nowMicros() + LEASE_MICROS
    await store.write((stores) => stores.webhookMessages.renew(holder, until))
  }

  /** Settles when no endpoint is served. */
  settled(): Promise<void> {
    return this.#running.settled()
  }

  /** Ends the calls under way; their messages are sent again. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the deliveries stop'))
    await this.#running.settled()
  }

  async #serve(leased: LeasedWebhook): Promise<void> {
    const { store, clock } = this.#deps
    const { signal } = this.#stopping
    const turnEnds = clock.nowMicros() + TURN_MICROS
    try {
      for (let current = leased; ; ) {
        const now = clock.nowMicros()
        const limit = current.webhook.ordered ? ORDERED_PER_STEP : MESSAGES_PER_STEP
        const messages = await store.read.webhookMessages.due(current, now, limit)
        if (messages.length === 0 || signal.aborted) return
        const concluded = await this.#callAll(current.webhook, messages, turnEnds)
        const state = await this.#conclude(current, concluded)
        if (state === undefined || signal.aborted || clock.nowMicros() >= turnEnds) return
        if (concluded.some(({ outcome }) => outcome.fault !== null)) return
        current = { ...current, queue: { ...current.queue, ...state } }
      }
    } finally {
      await store.write((stores) => stores.webhookMessages.release(leased, clock.nowMicros()))
    }
  }

  /**
   * Calls for each message; where the order is kept, up to the first that fails. Begins no call after `turnEnds`: a slow
   * receiver is sent nothing more under settings that have changed since, or after its endpoint was deleted.
   */
  async #callAll(
    webhook: Webhook,
    messages: readonly Message[],
    turnEnds: number,
  ): Promise<readonly Concluded[]> {
    const { clock } = this.#deps
    const concluded: Concluded[] = []
    const left = messages.values()
    const callInTurn = async () => {
      for (const message of left) {
        const outcome = await this.#call(webhook, message)
        if (outcome === undefined) return
        concluded.push(this.#judge(message, outcome))
        if (webhook.ordered && outcome.fault !== null) return
        if (clock.nowMicros() >= turnEnds) return
      }
    }
    const callers = webhook.ordered ? 1 : Math.min(CALLS_PER_ENDPOINT_MAX, messages.length)
    await Promise.all(Array.from({ length: callers }, callInTurn))
    return concluded
  }

  /** Undefined when the process stops: nothing is known of the attempt. */
  async #call(webhook: Webhook, message: Message): Promise<Outcome | undefined> {
    const { signal } = this.#stopping
    if (signal.aborted) return undefined
    try {
      return await this.#deps.caller.call(webhook, message, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }

  #judge(message: Message, outcome: Outcome): Concluded {
    if (outcome.fault === null) return { message, outcome, nextAt: null }
    const { clock, random } = this.#deps
    const tried = { tries: message.tries + 1, queued_at: message.queued_at }
    const on = { now: clock.nowMicros(), retryAt: outcome.retryAt, random: random() }
    return { message, outcome, nextAt: decideRetry(tried, on) }
  }

  /** Stores what came of the calls. Undefined when the lease was lost, or the endpoint is disabled now. */
  async #conclude(
    leased: LeasedWebhook,
    concluded: readonly Concluded[],
  ): Promise<QueueState | undefined> {
    const { store, clock, onDisabled } = this.#deps
    const state = stateAfter(leased, concluded)
    const now = clock.nowMicros()
    const disabled = disabledBy(leased.webhook, state, concluded, now)
    const isKept = await store.write(async (stores) => {
      if (!(await stores.webhookMessages.conclude(leased, concluded, state, now))) return false
      if (disabled !== undefined) await disable(stores, disabled, now)
      return true
    })
    if (isKept && disabled !== undefined) onDisabled(disabled)
    return isKept && disabled === undefined ? state : undefined
  }
}

/**
 * Disables an endpoint in the name of the service. What waits is given up, and can be replayed. Returns false when it is
 * disabled or deleted already.
 */
export async function disable(
  stores: DeliveryStores,
  { webhook: { workspace_id, id }, reason, fault, status }: Disabled,
  now: number,
): Promise<boolean> {
  const webhook = await stores.webhooks.find(workspace_id, id)
  if (webhook === undefined || webhook.disabled_at !== null) return false
  const updated_at = Math.max(now, webhook.updated_at + 1)
  const after = { ...webhook, disabled_at: now, disabled_reason: reason, updated_at }
  await stores.webhooks.update(after, webhook)
  await stores.webhookMessages.giveUp(id)
  const event = webhookDisabled(webhook, { reason, fault, status })
  await stores.events.append(deliveries(workspace_id), event, now)
  return true
}

function stateAfter({ queue }: LeasedWebhook, concluded: readonly Concluded[]): QueueState {
  const failed = concluded.filter(({ outcome }) => outcome.fault !== null)
  const last = failed.at(-1)
  const hasClicks = concluded.some(({ message }) => message.is_clicks === 1)
  const clicked_at = hasClicks
    ? Math.max(
        ...concluded
          .filter(({ message }) => message.is_clicks === 1)
          .map(({ outcome }) => outcome.at),
      )
    : queue.clicked_at
  // Any success shows that the receiver is there; a message that it always refuses does not make it look down.
  if (failed.length < concluded.length || last === undefined) {
    const healthy = { failures: 0, failing_since: null, fault: null, fault_status: null }
    return last === undefined
      ? { ...healthy, clicked_at }
      : { ...faultOf(last), failures: 0, failing_since: last.outcome.at, clicked_at }
  }
  const isFirstTry = failed.filter(({ message }) => message.tries === 0).length
  return {
    ...faultOf(last),
    failures: queue.failures + isFirstTry,
    failing_since: queue.failing_since ?? Math.min(...failed.map(({ outcome }) => outcome.at)),
    clicked_at,
  }
}

function faultOf({ outcome }: Concluded) {
  return { fault: outcome.fault, fault_status: outcome.status }
}

function disabledBy(
  webhook: Webhook,
  state: QueueState,
  concluded: readonly Concluded[],
  now: number,
): Disabled | undefined {
  const { fault, fault_status: status, failing_since } = state
  if (concluded.some(({ outcome }) => outcome.status === GONE)) {
    return { webhook, reason: 'gone', fault: 'status', status: GONE }
  }
  const isLost = failing_since !== null && now - failing_since >= TRYING_MICROS
  return isLost ? { webhook, reason: 'failures', fault, status } : undefined
}
