import type { AttemptResource, WebhookResource } from '@terse/contract/webhooks'
import { formatInstant } from '../platform/time/clock.ts'
import { HALF_DAY_MICROS } from './retry-schedule.ts'
import type { Attempt } from './store/attempt-store.ts'
import { HALF_DAYS, type ShownWebhook } from './webhooks.ts'

const REQUEST_CHARACTERS_MAX = 16 * 1024

function instantOrNull(micros: number | null | undefined): string | null {
  return micros === null || micros === undefined ? null : formatInstant(micros)
}

/** An endpoint as the API shows it: without its secrets. */
export function presentWebhook(shown: ShownWebhook): WebhookResource {
  const { webhook, queue, waiting, health, replay, now } = shown
  const { id, workspace_id, name, url, events, domains, tags, ordered, secret_hint } = webhook
  const { old_secret_hint: hint, old_secret_until: until, disabled_at } = webhook
  const isFailing = queue?.failing_since !== null && queue !== undefined
  return {
    ...{ id, workspace_id, name, url, ordered },
    ...{ events: [...events], domains: [...domains], tags: [...tags] },
    enabled: disabled_at === null,
    state: disabled_at !== null ? 'disabled' : isFailing ? 'failing' : 'healthy',
    disabled_at: instantOrNull(disabled_at),
    disabled_reason: webhook.disabled_reason,
    failing_since: instantOrNull(queue?.failing_since),
    fault: queue?.fault ?? null,
    fault_status: queue?.fault_status ?? null,
    secret_hint,
    old_secret:
      hint !== null && until !== null && now < until ? { hint, until: formatInstant(until) } : null,
    waiting,
    oldest_waiting_at: instantOrNull(health.oldestWaitingAt),
    next_try_at: instantOrNull(queue?.next_at),
    answer_ms: health.answerMs,
    half_days: halfDays(shown),
    replay: replay
      ? {
          from: formatInstant(replay.fromMicros),
          to: formatInstant(replay.toMicros),
          queued: replay.queued,
          done: replay.done_at !== null,
        }
      : null,
    created_at: formatInstant(webhook.created_at),
    updated_at: formatInstant(webhook.updated_at),
  }
}

function halfDays({ health, now }: ShownWebhook): WebhookResource['half_days'] {
  const last = Math.floor(now / HALF_DAY_MICROS)
  const known = new Map(health.tallies.map((tally) => [tally.half_day, tally]))
  return Array.from({ length: HALF_DAYS }, (_, nth) => {
    const halfDay = last - HALF_DAYS + 1 + nth
    const { delivered = 0, failed = 0 } = known.get(halfDay) ?? {}
    return { start: formatInstant(halfDay * HALF_DAY_MICROS), delivered, failed }
  })
}

/** An attempt as the API shows it. */
export function presentAttempt(attempt: Attempt): AttemptResource {
  const { number, message_id, summary, took_ms, status, fault, nextAt, url, body } = attempt
  return {
    id: String(number),
    ...{ message_id, summary, took_ms, status, fault },
    event: attempt.event as AttemptResource['event'],
    try: attempt.try,
    at: formatInstant(attempt.at),
    ok: fault === null,
    next_try_at: instantOrNull(nextAt),
    request: {
      url,
      headers: { ...attempt.requestHeaders },
      body: body.slice(0, REQUEST_CHARACTERS_MAX),
    },
    response: attempt.response && {
      headers: { ...attempt.response.headers },
      body: attempt.response.body,
    },
  }
}
