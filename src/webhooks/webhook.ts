import type { WebhookEvent } from '@terse/contract/webhook-events'
import type { AttemptFault, DisabledReason } from '@terse/contract/webhooks'
import { type EventFields, type NewEvent, setFields } from '../storage/event-log.ts'

/** An endpoint to which events of a workspace are sent. Times are microseconds since the epoch. */
export type Webhook = {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly url: string
  readonly events: readonly WebhookEvent[]
  /** Hosts; empty for all. */
  readonly domains: readonly string[]
  /** Empty for all. */
  readonly tags: readonly string[]
  readonly ordered: boolean
  readonly sealed_secret: string
  readonly secret_hint: string
  /** The secret before the last rotation; null when it no longer signs. */
  readonly old_sealed_secret: string | null
  readonly old_secret_hint: string | null
  readonly old_secret_until: number | null
  /** Null while it is enabled. */
  readonly disabled_at: number | null
  readonly disabled_reason: DisabledReason | null
  readonly created_at: number
  /** Rises with every update. */
  readonly updated_at: number
}

/** What waits at an endpoint, and how its last attempts went. */
export type WebhookQueue = {
  readonly webhook_id: string
  readonly next_at: number | null
  readonly failures: number
  readonly failing_since: number | null
  readonly fault: AttemptFault | null
  readonly fault_status: number | null
  readonly clicked_at: number
}

/** A call that waits at an endpoint. */
export type Message = {
  /** Rises in the order in which events were committed. */
  readonly number: number
  readonly message_id: string
  readonly event: string
  readonly is_clicks: number
  readonly body: string
  readonly tries: number
  readonly next_at: number | null
  readonly queued_at: number
}

/** A call before it is queued. */
export type NewMessage = {
  readonly message_id: string
  readonly event: string
  readonly is_clicks: number
  readonly at: number
  readonly summary: string | null
  readonly body: string
}

/** What became of an attempt, as the log keeps it. */
export type Outcome = {
  readonly at: number
  readonly took_ms: number
  readonly status: number | null
  /** Null when the answer was 2xx. */
  readonly fault: AttemptFault | null
  readonly url: string
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly response: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  } | null
  /** When the receiver asked to be tried again, in microseconds since the epoch. */
  readonly retryAt: number | null
}

export const WEBHOOKS_MAX = 100

/** What the event log keeps of an endpoint: never a secret. */
function fieldsOf({
  name,
  url,
  events,
  domains,
  tags,
  ordered,
  disabled_reason,
}: Webhook): EventFields {
  return { name, url, events, domains, tags, ordered, enabled: disabled_reason === null }
}

export function webhookCreated(webhook: Webhook): NewEvent {
  const after = setFields(fieldsOf(webhook))
  return { type: 'webhook.created', subjectId: webhook.id, before: null, after }
}

export function webhookUpdated(from: Webhook, to: Webhook): NewEvent | undefined {
  const before = fieldsOf(from)
  const after = fieldsOf(to)
  const names = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  if (names.length === 0) return undefined
  const only = (fields: EventFields) =>
    Object.fromEntries(names.map((name) => [name, fields[name] ?? null]))
  return { type: 'webhook.updated', subjectId: to.id, before: only(before), after: only(after) }
}

export function webhookDeleted(webhook: Webhook): NewEvent {
  const before = setFields(fieldsOf(webhook))
  return { type: 'webhook.deleted', subjectId: webhook.id, before, after: null }
}

/** The service itself has disabled it. */
export function webhookDisabled(
  { id, name, url }: Webhook,
  after: {
    readonly reason: DisabledReason
    readonly fault: AttemptFault | null
    readonly status: number | null
  },
): NewEvent {
  return { type: 'webhook.disabled', subjectId: id, before: null, after: { name, url, ...after } }
}

export function secretRotated({ id, name }: Webhook): NewEvent {
  return { type: 'webhook.secret_rotated', subjectId: id, before: null, after: { name } }
}
