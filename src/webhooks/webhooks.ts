import { WEBHOOK_EVENTS, type WebhookEvent } from '@terse/contract/webhook-events'
import { WAITING_COUNTED_MAX } from '@terse/contract/webhooks'
import { parseHost, type ServiceHost } from '../hosts/index.ts'
import { type Actor, type QuotaStores, requirePermission } from '../identity/index.ts'
import { isUuid, type Random, uuidV7 } from '../platform/crypto/random.ts'
import { Failure, FaultList, type Parsed } from '../platform/failure.ts'
import type { IdempotentRequest } from '../platform/http/api/idempotency.ts'
import type { Page, Run } from '../platform/http/api/pagination.ts'
import { isIpAddress } from '../platform/network/ip-address.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { EventWriter } from '../storage/event-log.ts'
import { type IdempotencyStores, runIdempotent } from '../storage/idempotency.ts'
import type { Store } from '../storage/store.ts'
import type { WebhookCaller } from './caller.ts'
import { testMessage } from './messages.ts'
import { clicksFrom, type OutboxStores } from './outbox.ts'
import { countCalls, type PeriodReplay, rangeOf } from './replays.ts'
import { HALF_DAY_MICROS } from './retry-schedule.ts'
import { OLD_SECRET_MICROS, type Secret, type WebhookSecrets } from './signature.ts'
import type { Attempt, AttemptStore, WebhookHealth } from './store/attempt-store.ts'
import type { Replay } from './store/outbox-store.ts'
import {
  secretRotated,
  WEBHOOKS_MAX,
  type Webhook,
  type WebhookQueue,
  webhookCreated,
  webhookDeleted,
  webhookUpdated,
} from './webhook.ts'

/** Tests wait for the receiver. */
export const WEBHOOK_TEST_QUEUE: FairQueueOptions = {
  work: 'webhook tests',
  concurrency: 32,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 4,
  waitingMax: 128,
  deadlineMs: 5_000,
}

export const HALF_DAYS = 14

type WebhookStores = IdempotencyStores &
  QuotaStores &
  OutboxStores & {
    readonly webhookAttempts: AttemptStore
    readonly events: EventWriter
    readonly domains: {
      findByHost(workspaceId: string, host: string): Promise<object | undefined>
    }
  }

/** What is left out keeps its value. */
export type WebhookInput = {
  readonly name?: string | undefined
  readonly url?: string | undefined
  readonly events?: readonly WebhookEvent[] | undefined
  readonly domains?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly ordered?: boolean | undefined
  readonly enabled?: boolean | undefined
}

export type NewWebhook = WebhookInput & {
  readonly url: string
  readonly events: readonly WebhookEvent[]
  readonly secret?: string | undefined
}

/** An endpoint with how it does. */
export type ShownWebhook = {
  readonly webhook: Webhook
  readonly queue: WebhookQueue | undefined
  readonly waiting: number
  readonly health: WebhookHealth
  readonly replay: Replay | undefined
  readonly now: number
}

export type AttemptListing = {
  readonly event?: string | undefined
  readonly messageId?: string | undefined
  readonly onlyFailed: boolean
  readonly beyond: number | undefined
  readonly limit: number
}

type Dependencies = {
  readonly store: Store<WebhookStores>
  readonly clock: Clock
  readonly random: Random
  readonly secrets: WebhookSecrets
  readonly caller: WebhookCaller
  /** As in `CallerOptions`. */
  readonly mayReach: (address: string) => boolean
  /** For `WEBHOOK_TEST_QUEUE`. */
  readonly tests: FairQueue
  readonly serviceHost: Pick<ServiceHost, 'host'>
}

/** What an actor must be allowed to see to be sent an event. */
const NEEDS = {
  link: 'links.view',
  clicks: 'clicks.view',
  conversion: 'conversions.view',
  domain: 'domains.view',
  member: 'members.view',
  job: 'links.view',
} as const

/** The operations on endpoints. Each acts within the workspace of its actor. */
export class Webhooks {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  async list({ workspaceId }: Actor, offset: number, limit: number): Promise<Page<ShownWebhook>> {
    const { items, total } = await this.#deps.store.read.webhooks.page(workspaceId, offset, limit)
    return { items: await this.#shown(items), total }
  }

  /** @throws {Failure} `not_found` */
  async get(actor: Actor, id: string): Promise<ShownWebhook> {
    const webhook = await getWebhook(this.#deps.store.read, actor.workspaceId, id)
    const [shown] = await this.#shown([webhook])
    if (shown === undefined) throw notFound()
    return shown
  }

  /**
   * @throws {Failure} `validation_failed`, `idempotency_conflict`; `missing_scope` or `missing_role` for events that the
   *   actor may not see
   */
  async create(
    actor: Actor,
    { secret: given, ...input }: NewWebhook,
    request?: IdempotentRequest,
  ): Promise<ShownWebhook & { readonly secret: string }> {
    const { store, clock, random, secrets } = this.#deps
    const { workspaceId } = actor
    requireEvents(actor, input.events)
    const id = uuidV7(clock, random)
    const fields = this.#parse(input)
    const position = await this.#endOfClicks(fields.events)
    const created = await store.write((stores) =>
      runIdempotent(stores, workspaceId, request, clock.nowMicros(), {
        // Others that add endpoints to the workspace wait, so that the number is exact.
        read: () => stores.quotas.lock(workspaceId),
        write: async () => {
          await refuseUnknownDomains(stores, this.#deps, { workspaceId, domains: fields.domains })
          if ((await stores.webhooks.count(workspaceId)) >= WEBHOOKS_MAX) {
            throw Failure.invalid({
              url: [{ code: 'limit_reached', reason: 'webhooks', max: WEBHOOKS_MAX }],
            })
          }
          const now = clock.nowMicros()
          const secret = secrets.take(id, given)
          const webhook = newWebhook({ id, workspaceId, now, fields, input, secret })
          await stores.webhooks.insert(webhook)
          await stores.webhookOutbox.begin('events', await stores.events.end())
          if (position !== undefined) await stores.webhookOutbox.begin('clicks', position)
          await stores.events.append(actor, webhookCreated(webhook), now)
          return { id, secret: secret.text }
        },
      }),
    )
    return { ...(await this.get(actor, created.id)), secret: created.secret }
  }

  /** @throws {Failure} as `create`, and `not_found` */
  async update(actor: Actor, id: string, input: WebhookInput): Promise<ShownWebhook> {
    const { store, clock } = this.#deps
    const { workspaceId } = actor
    const { events = (await getWebhook(store.read, workspaceId, id)).events } = input
    const position = input.enabled === false ? undefined : await this.#endOfClicks(events)
    await store.write(async (stores) => {
      const before = await getWebhook(stores, workspaceId, id)
      const { enabled = before.disabled_at === null, ...fields } = this.#parse(input, before)
      // The actor may have changed where all of them go.
      requireEvents(actor, fields.events)
      if (input.domains !== undefined) {
        await refuseUnknownDomains(stores, this.#deps, { workspaceId, domains: fields.domains })
      }
      const now = Math.max(clock.nowMicros(), before.updated_at + 1)
      const isEnabled = before.disabled_at === null
      const state = enabled
        ? { disabled_at: null, disabled_reason: null }
        : {
            disabled_at: before.disabled_at ?? now,
            disabled_reason: before.disabled_reason ?? ('by_hand' as const),
          }
      const after: Webhook = { ...before, ...fields, ...state, updated_at: now }
      await stores.webhooks.update(after, before)
      if (isEnabled && !enabled) await stores.webhookMessages.giveUp(id)
      if (!isEnabled && enabled) await stores.webhookMessages.forgetFaults(id)
      if (enabled) await stores.webhookOutbox.begin('events', await stores.events.end())
      if (enabled && position !== undefined) {
        await stores.webhookOutbox.begin('clicks', position)
      }
      const event = webhookUpdated(before, after)
      if (event !== undefined) await stores.events.append(actor, event, now)
    })
    return this.get(actor, id)
  }

  /** Where clicks are read from for an endpoint with these events; undefined for one without clicks, which needs no database of clicks. */
  async #endOfClicks(events: readonly string[]): Promise<string | undefined> {
    const { store, clock } = this.#deps
    if (!events.includes('link.clicked')) return undefined
    return await store.read.feed.end(clicksFrom(clock.nowMicros()))
  }

  /** @throws {Failure} `not_found` */
  async delete(actor: Actor, id: string): Promise<void> {
    const { store, clock } = this.#deps
    await store.write(async (stores) => {
      const webhook = await getWebhook(stores, actor.workspaceId, id)
      if (!(await stores.webhooks.delete(actor.workspaceId, id))) throw notFound()
      await stores.events.append(actor, webhookDeleted(webhook), clock.nowMicros())
    })
    while (await store.write((stores) => stores.webhookAttempts.erase(id)));
  }

  /**
   * Gives the endpoint another secret. The one before signs too for 24 hours.
   *
   * @throws {Failure} `not_found`, `validation_failed`
   */
  async rotateSecret(
    actor: Actor,
    id: string,
    given: string | undefined,
  ): Promise<ShownWebhook & { readonly secret: string }> {
    const { store, clock, secrets } = this.#deps
    const { text, sealed, hint } = secrets.take(id, given)
    await store.write(async (stores) => {
      const before = await getWebhook(stores, actor.workspaceId, id)
      const now = Math.max(clock.nowMicros(), before.updated_at + 1)
      const after: Webhook = {
        ...before,
        sealed_secret: sealed,
        secret_hint: hint,
        old_sealed_secret: before.sealed_secret,
        old_secret_hint: before.secret_hint,
        old_secret_until: now + OLD_SECRET_MICROS,
        updated_at: now,
      }
      await stores.webhooks.update(after, before)
      await stores.events.append(actor, secretRotated(after), now)
    })
    return { ...(await this.get(actor, id)), secret: text }
  }

  /**
   * Lets the secret before the last rotation sign no more.
   *
   * @throws {Failure} `not_found`
   */
  async endOldSecret(actor: Actor, id: string): Promise<void> {
    const { store, clock } = this.#deps
    await store.write(async (stores) => {
      const before = await getWebhook(stores, actor.workspaceId, id)
      const now = Math.max(clock.nowMicros(), before.updated_at + 1)
      const none = { old_sealed_secret: null, old_secret_hint: null, old_secret_until: null }
      await stores.webhooks.update({ ...before, ...none, updated_at: now }, before)
    })
  }

  /**
   * Sends a test at once, also to a disabled endpoint, and returns what came of it.
   *
   * @throws {Failure} `not_found`
   * @throws {QueueRefusal} when too many tests are under way
   */
  async test(actor: Actor, id: string): Promise<Attempt> {
    const { store, clock, random, caller, tests } = this.#deps
    const { workspaceId } = actor
    await getWebhook(store.read, workspaceId, id)
    return tests.run(workspaceId, async () => {
      const webhook = await getWebhook(store.read, workspaceId, id)
      const message = testMessage(uuidV7(clock, random), webhook, clock.nowMicros())
      const outcome = await caller.call(webhook, message, new AbortController().signal)
      const number = await store.write((stores) =>
        stores.webhookMessages.logTest(id, message, outcome),
      )
      const { message_id, event, summary, body } = message
      const sent = { number, message_id, event, summary, body, try: 1, nextAt: null }
      return { ...outcome, ...sent }
    })
  }

  /** @throws {Failure} `not_found` */
  async attempts(
    { workspaceId }: Actor,
    id: string,
    { beyond, limit, ...filter }: AttemptListing,
  ): Promise<Run<Attempt, number>> {
    const { read } = this.#deps.store
    await getWebhook(read, workspaceId, id)
    return read.webhookAttempts.run(id, filter, { beyond, limit })
  }

  /**
   * Sends one message again.
   *
   * @throws {Failure} `not_found`; `validation_failed` for a disabled endpoint
   */
  async replayMessage(actor: Actor, id: string, messageId: string): Promise<ShownWebhook> {
    const { store, clock } = this.#deps
    await store.write(async (stores) => {
      await getEnabled(stores, actor.workspaceId, id)
      const isQueued = await stores.webhookMessages.requeue(id, messageId, clock.nowMicros())
      if (!isQueued) throw Failure.notFound('Message')
    })
    return this.get(actor, id)
  }

  /**
   * Sends the events of a period again, in the place of a replay under way.
   *
   * @throws {Failure} `not_found`, `validation_failed`
   */
  async replayPeriod(actor: Actor, id: string, period: PeriodReplay): Promise<ShownWebhook> {
    const { store, clock } = this.#deps
    const now = clock.nowMicros()
    await store.write(async (stores) => {
      const webhook = await getEnabled(stores, actor.workspaceId, id)
      const { clicks, ...range } = rangeOf(webhook, period, now)
      const queued =
        clicks.length === 0
          ? 0
          : await stores.webhookMessages.requeuePeriod(id, { ...range, events: clicks }, now)
      await stores.webhookOutbox.putReplay({ webhook_id: id, ...range, queued, done_at: null })
    })
    return this.get(actor, id)
  }

  /**
   * Returns an endpoint with what a replay of a period would queue, and sends nothing. It is not done where it was not
   * counted to its end.
   *
   * @throws {Failure} as `replayPeriod`
   */
  async countReplay(actor: Actor, id: string, period: PeriodReplay): Promise<ShownWebhook> {
    const { store, clock } = this.#deps
    const now = clock.nowMicros()
    const webhook = await getEnabled(store.read, actor.workspaceId, id)
    const range = rangeOf(webhook, period, now)
    const { calls, isComplete } = await countCalls(store.read, webhook, range)
    const counted = { webhook_id: id, ...range, queued: calls, done_at: isComplete ? now : null }
    return { ...(await this.get(actor, id)), replay: { ...counted, revision: 0 } }
  }

  async #shown(webhooks: readonly Webhook[]): Promise<ShownWebhook[]> {
    const { store, clock } = this.#deps
    const { read } = store
    const now = clock.nowMicros()
    const ids = webhooks.map(({ id }) => id)
    const queues = await read.webhooks.findQueues(ids)
    const replays = await read.webhookOutbox.findReplays(ids)
    const sinceHalfDay = Math.floor(now / HALF_DAY_MICROS) - HALF_DAYS + 1
    return Promise.all(
      webhooks.map(async (webhook) => ({
        webhook,
        queue: queues.get(webhook.id),
        waiting: await read.webhookOutbox.countWaiting(webhook.id, WAITING_COUNTED_MAX),
        health: await read.webhookAttempts.health(webhook.id, sinceHalfDay),
        replay: replays.get(webhook.id),
        now,
      })),
    )
  }

  /** @throws {Failure} `validation_failed` */
  #parse(input: WebhookInput, before?: Webhook) {
    const faults = new FaultList()
    const url =
      input.url === undefined ? before?.url : faults.take('url', this.#parseUrl(input.url))
    const domains = (input.domains ?? []).map((text, nth) =>
      faults.take(`domains.${nth}`, this.#parseDomain(text)),
    )
    faults.throwIfAny()
    return {
      url: url ?? '',
      name: input.name ?? before?.name ?? new URL(url ?? '').host,
      events: [...new Set(input.events ?? before?.events ?? [])],
      domains:
        input.domains === undefined
          ? (before?.domains ?? [])
          : [...new Set(domains.filter((host) => host !== undefined))],
      tags: [...new Set(input.tags ?? before?.tags ?? [])],
      ordered: input.ordered ?? before?.ordered ?? false,
      ...(input.enabled !== undefined && { enabled: input.enabled }),
    }
  }

  /** The service's own host may be a name that no domain can have. */
  #parseDomain(text: string): Parsed<string> {
    const { host } = this.#deps.serviceHost
    return text.toLowerCase() === host ? { value: host } : parseHost(text)
  }

  /** What a host name leads to is checked at each call. */
  #parseUrl(text: string): Parsed<string> {
    const url = URL.parse(text)
    if (url === null) return { fault: { code: 'invalid_url' } }
    if (!/^https?:$/.test(url.protocol)) {
      return { fault: { code: 'wrong_scheme', allowed: ['https:', 'http:'] } }
    }
    if (url.username !== '' || url.password !== '') {
      return { fault: { code: 'url_with_credentials' } }
    }
    const address = url.hostname.replace(/^\[|\]$/g, '')
    if (isIpAddress(address) && !this.#deps.mayReach(address)) {
      return { fault: { code: 'private_address' } }
    }
    url.hash = ''
    return { value: url.href }
  }
}

function newWebhook(on: {
  readonly id: string
  readonly workspaceId: string
  readonly now: number
  readonly fields: Omit<WebhookFields, 'enabled'>
  readonly input: WebhookInput
  readonly secret: Secret
}): Webhook {
  const { id, workspaceId, now, input, secret } = on
  const { name, url, events, domains, tags, ordered } = on.fields
  const isDisabled = input.enabled === false
  return {
    ...{ id, workspace_id: workspaceId, name, url, events, domains, tags, ordered },
    sealed_secret: secret.sealed,
    secret_hint: secret.hint,
    old_sealed_secret: null,
    old_secret_hint: null,
    old_secret_until: null,
    disabled_at: isDisabled ? now : null,
    disabled_reason: isDisabled ? 'by_hand' : null,
    created_at: now,
    updated_at: now,
  }
}

type WebhookFields = Pick<Webhook, 'name' | 'url' | 'events' | 'domains' | 'tags' | 'ordered'>

/** @throws {Failure} `missing_scope` or `missing_role` */
function requireEvents(actor: Actor, events: readonly WebhookEvent[]): void {
  for (const event of events) requirePermission(actor, NEEDS[WEBHOOK_EVENTS[event].about])
}

async function refuseUnknownDomains(
  stores: Pick<WebhookStores, 'domains'>,
  { serviceHost }: Pick<Dependencies, 'serviceHost'>,
  { workspaceId, domains }: { workspaceId: string; domains: readonly string[] },
): Promise<void> {
  const faults = new FaultList()
  for (const [nth, host] of domains.entries()) {
    const isKnown =
      host === serviceHost.host ||
      (await stores.domains.findByHost(workspaceId, host)) !== undefined
    if (!isKnown) faults.add(`domains.${nth}`, { code: 'unknown_domain' })
  }
  faults.throwIfAny()
}

async function getWebhook(
  stores: Pick<WebhookStores, 'webhooks'>,
  workspaceId: string,
  id: string,
): Promise<Webhook> {
  const found = isUuid(id) ? await stores.webhooks.find(workspaceId, id) : undefined
  if (found === undefined) throw notFound()
  return found
}

/** @throws {Failure} `not_found`; `validation_failed` for a disabled endpoint */
async function getEnabled(
  stores: Pick<WebhookStores, 'webhooks'>,
  workspaceId: string,
  id: string,
): Promise<Webhook> {
  const webhook = await getWebhook(stores, workspaceId, id)
  if (webhook.disabled_at !== null) throw Failure.invalid({ id: [{ code: 'webhook_disabled' }] })
  return webhook
}

function notFound(): Failure {
  return Failure.notFound('Webhook')
}
