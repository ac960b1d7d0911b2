import type { Generated } from 'kysely'

/** The tables of webhooks, as queries see them. Times are microseconds since the epoch. */
export type WebhookTables = {
  webhooks: {
    id: string
    workspace_id: string
    name: string
    url: string
    /** A JSON array, as are `domains` and `tags`. */
    events: string
    domains: string
    tags: string
    /** 0 or 1. */
    is_ordered: number
    sealed_secret: string
    secret_hint: string
    old_sealed_secret: string | null
    old_secret_hint: string | null
    old_secret_until: number | null
    disabled_at: number | null
    disabled_reason: string | null
    created_at: number
    updated_at: number
  }
  /** What waits at an endpoint, and which process delivers it. */
  webhook_queues: {
    webhook_id: string
    workspace_id: string
    /** When a message is due; null while none waits. */
    next_at: number | null
    /** Failed attempts since the last that succeeded. */
    failures: number
    failing_since: number | null
    fault: string | null
    fault_status: number | null
    /** When clicks were last sent. */
    clicked_at: number
    fence: number
    lease_holder: string | null
    lease_until: number | null
  }
  webhook_messages: {
    /** In the order in which the events were committed. */
    number: Generated<number>
    webhook_id: string
    /** The `webhook-id` of the call. */
    message_id: string
    event: string
    /** 0 or 1. */
    is_clicks: number
    /** When it happened. */
    at: number
    summary: string | null
    body: string
    tries: number
    /** When it is sent; null once it is delivered or given up. */
    next_at: number | null
    delivered_at: number | null
    /** When it was first queued, or queued again. */
    queued_at: number
  }
  webhook_attempts: {
    number: Generated<number>
    webhook_id: string
    message_id: string
    event: string
    try: number
    at: number
    took_ms: number
    status: number | null
    /** Null for an attempt that succeeded. */
    fault: string | null
    url: string
    /** A JSON object, as is `response_headers`. */
    request_headers: string
    response_headers: string | null
    response_body: string | null
  }
  /** Attempts by half days since the epoch. */
  webhook_tallies: { webhook_id: string; half_day: number; delivered: number; failed: number }
  /** The last replay of a period at each endpoint. */
  webhook_replays: {
    webhook_id: string
    from_micros: number
    to_micros: number
    /** A JSON array. */
    events: string
    /** 0 or 1. */
    only_undelivered: number
    /** The last event that was queued. */
    after_at: number
    after_sequence: number
    queued: number
    done_at: number | null
    revision: number
  }
  /** How far the event log and the clicks were read. */
  webhook_cursors: { feed: string; position: string; revision: number }
}
