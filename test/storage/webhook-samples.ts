import { randomUUID } from 'node:crypto'
import type { LeasedWebhook, MessageStore } from '../../src/webhooks/store/message-store.ts'
import type { Replay } from '../../src/webhooks/store/outbox-store.ts'
import type { WebhookStore } from '../../src/webhooks/store/webhook-store.ts'
import type { NewMessage, Outcome, Webhook } from '../../src/webhooks/webhook.ts'
import { NOW } from './samples.ts'

type Owner = { readonly workspace_id: string }

export function newWebhook({ workspace_id }: Owner, given: Partial<Webhook> = {}): Webhook {
  return {
    id: randomUUID(),
    workspace_id,
    name: 'hook',
    url: 'https://hooks.example.com/',
    events: ['link.created'],
    domains: [],
    tags: [],
    ordered: false,
    sealed_secret: 'sealed',
    secret_hint: 'hint',
    old_sealed_secret: null,
    old_secret_hint: null,
    old_secret_until: null,
    disabled_at: null,
    disabled_reason: null,
    created_at: NOW,
    updated_at: NOW,
    ...given,
  }
}

export function newMessage(): NewMessage {
  const message_id = `evt_${randomUUID()}`
  return { message_id, event: 'link.created', is_clicks: 0, at: NOW, summary: null, body: '{}' }
}

export function newOutcome(given: Partial<Outcome> = {}): Outcome {
  return {
    at: NOW,
    took_ms: 1,
    status: 204,
    fault: null,
    url: 'https://hooks.example.com/',
    requestHeaders: {},
    response: { headers: {}, body: '' },
    retryAt: null,
    ...given,
  }
}

export function newReplay(): Omit<Replay, 'revision'> {
  return {
    webhook_id: randomUUID(),
    fromMicros: 0,
    toMicros: NOW,
    events: ['link.created'],
    onlyUndelivered: false,
    after: { at: -1, sequence: 0 },
    queued: 0,
    done_at: null,
  }
}

export function newLeasedWebhook(owner: Owner, given: Partial<Webhook> = {}): LeasedWebhook {
  const webhook = newWebhook(owner, given)
  const state = { failures: 0, failing_since: null, fault: null, fault_status: null, clicked_at: 0 }
  const queue = { webhook_id: webhook.id, next_at: NOW, ...state }
  return { webhook, queue, workspaceId: owner.workspace_id, fence: 1 }
}

/** Queues two messages, of which one is delivered and one is not, and stores it. */
export async function concludeOne(
  stores: { readonly webhooks: WebhookStore; readonly webhookMessages: MessageStore },
  owner: Owner,
): Promise<void> {
  const webhook = newWebhook(owner)
  await stores.webhooks.insert(webhook)
  const messages = [newMessage(), newMessage()]
  await stores.webhookMessages.enqueue(
    messages.map((message) => ({ webhook, message })),
    NOW,
  )
  const leased = { ...newLeasedWebhook(owner), webhook, fence: 0 }
  const due = await stores.webhookMessages.due(leased, NOW, 10)
  const state = { failures: 0, failing_since: null, fault: null, fault_status: null, clicked_at: 0 }
  await stores.webhookMessages.conclude(
    { ...leased, queue: { ...leased.queue, failures: 3 } },
    due.map((message, nth) => ({
      message,
      outcome: newOutcome(nth === 0 ? {} : { status: 500, fault: 'status' }),
      nextAt: nth === 0 ? null : NOW + 5,
    })),
    state,
    NOW,
  )
  await stores.webhookMessages.release(leased, NOW)
}
