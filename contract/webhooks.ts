import { z } from 'zod'
import { tagInput } from './links.ts'
import { cursorText, pageOf, pageQuery, perPageQuery, uncountedPageOf } from './pagination.ts'
import { instantInput, line, timestamp, uuid } from './primitives.ts'
import { TEST_EVENT, WEBHOOK_EVENT_NAMES } from './webhook-events.ts'

const WEBHOOK_NAME_LENGTH_MAX = 100
const URL_LENGTH_MAX = 2_000
const DOMAINS_MAX = 50
const TAGS_MAX = 50
/** `whsec_` and 24 to 64 bytes in base64. */
const SECRET_LENGTH_MAX = 100
/** Beyond it `waiting` is not counted. */
export const WAITING_COUNTED_MAX = 10_000

const name = line(WEBHOOK_NAME_LENGTH_MAX)
const url = line(URL_LENGTH_MAX)
const eventName = z.enum(WEBHOOK_EVENT_NAMES)
const events = z.array(eventName).min(1)
const secret = line(SECRET_LENGTH_MAX).describe(
  '`whsec_` and 24 to 64 bytes in base64. Left out: the service draws 32 bytes.',
)

const DISABLED_REASONS = ['by_hand', 'failures', 'gone', 'overflow'] as const

const FAULTS = [
  'status',
  'redirect',
  'timeout',
  'refused_address',
  'unreachable',
  'certificate',
  'broken',
] as const

const FAULT = [
  '`status`: the answer is not 2xx. `redirect`: the answer is a redirect, which is not followed.',
  '`timeout`: no whole answer within 15 s. `refused_address`: the host is in a private network that is not allowed.',
  '`unreachable`: no connection, or the host has no address. `certificate`: the certificate is not valid.',
  '`broken`: the connection ended within the answer.',
].join(' ')

export const webhookSchema = z
  .object({
    id: uuid.describe('Identifier of the endpoint.'),
    workspace_id: uuid.describe('Workspace that owns it.'),
    name: z.string().describe('What people call it.'),
    url: z.string().describe('Where events are sent by `POST`.'),
    events: z.array(eventName).describe('What it is called for.'),
    domains: z
      .array(z.string())
      .describe('Only what concerns these domains, and what concerns none; empty for all.'),
    tags: z
      .array(z.string())
      .describe('Of links, only those with one of these tags; empty for all.'),
    ordered: z
      .boolean()
      .describe('Whether an event waits until the ones before it were delivered.'),
    enabled: z.boolean().describe('Whether events are sent.'),
    state: z
      .enum(['healthy', 'failing', 'disabled'])
      .describe('`failing` from a failed attempt to the next that succeeds.'),
    disabled_at: timestamp.nullable().describe('Since when it is disabled; null while enabled.'),
    disabled_reason: z
      .enum(DISABLED_REASONS)
      .nullable()
      .describe(
        '`by_hand`: by a person or token. `failures`: nothing was delivered for 5 days. `gone`: it answered 410. `overflow`: too many events waited. Null while enabled.',
      ),
    failing_since: timestamp.nullable().describe('The first failure since the last success.'),
    fault: z.enum(FAULTS).nullable().describe(`Why the last attempt failed: ${FAULT}`),
    fault_status: z.int().nullable().describe('The status of the last answer, if it failed.'),
    secret_hint: z.string().describe('The last four characters of the secret.'),
    old_secret: z
      .object({
        hint: z.string().describe('Its last four characters.'),
        until: timestamp.describe('When it stops signing.'),
      })
      .nullable()
      .describe('The secret before the last rotation, which signs too for 24 hours.'),
    waiting: z
      .int()
      .describe(`Events that wait to be delivered; counted up to ${WAITING_COUNTED_MAX}.`),
    oldest_waiting_at: timestamp.nullable().describe('When the oldest of them happened.'),
    next_try_at: timestamp.nullable().describe('When something is sent next; null for nothing.'),
    answer_ms: z
      .object({
        median: z.int().describe('Half of the answers took at most this.'),
        p95: z.int().describe('95 % of the answers took at most this.'),
      })
      .nullable()
      .describe('The last 100 attempts with an answer, in milliseconds; null without one.'),
    half_days: z
      .array(
        z.object({
          start: timestamp.describe('Start of the half day, in UTC.'),
          delivered: z.int().describe('Attempts that succeeded.'),
          failed: z.int().describe('Attempts that failed.'),
        }),
      )
      .describe('The attempts of the last 7 days, in 14 half days; the last one has not ended.'),
    replay: z
      .object({
        from: timestamp.describe('Start of the period.'),
        to: timestamp.describe('End of the period.'),
        queued: z.int().describe('Events that it has queued so far.'),
        done: z.boolean().describe('Whether all events of the period are queued.'),
      })
      .nullable()
      .describe('The last replay of a period; null without one.'),
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('When it was last changed.'),
  })
  .meta({ id: 'Webhook', description: 'An endpoint to which events of the workspace are sent.' })

export const webhookPage = pageOf(webhookSchema, 'WebhookPage')
export const listWebhooksQuery = pageQuery.omit({ cursor: true })

export const createdWebhookSchema = webhookSchema
  .extend({ secret: z.string().describe('Signs the events. It cannot be read again.') })
  .meta({ id: 'CreatedWebhook', description: 'A new endpoint, with its secret.' })

const settings = z.strictObject({
  name: name.describe('What people call it; the host of the URL when left out.'),
  url: url.describe('An absolute URL with https, or http.'),
  events: events.describe('What it is called for.'),
  domains: z
    .array(line(URL_LENGTH_MAX))
    .max(DOMAINS_MAX)
    .describe('Domains of the workspace, or the host of the service. Empty for all.'),
  tags: z.array(tagInput).max(TAGS_MAX).describe('Tags of links. Empty for all.'),
  ordered: z.boolean().describe('Whether to keep the order; false when left out.'),
  enabled: z.boolean().describe('Whether to send events; true when left out.'),
})

export const createWebhookBody = settings
  .partial({ name: true, domains: true, tags: true, ordered: true, enabled: true })
  .extend({ secret: secret.optional() })
  .meta({
    id: 'CreateWebhook',
    description: 'A new endpoint.',
    examples: [
      { url: 'https://hooks.example.com/terse', events: ['link.created', 'link.clicked'] },
    ],
  })

export const patchWebhookBody = settings.partial().meta({
  id: 'PatchWebhook',
  description: 'The fields to change.',
  examples: [{ ordered: true }],
})

export const webhookDeleted = z
  .object({ message: z.literal('Webhook deleted') })
  .meta({ id: 'WebhookDeleted' })

export const oldSecretEnded = z
  .object({ message: z.literal('Old secret ended') })
  .meta({ id: 'OldSecretEnded' })

export const rotateSecretBody = z
  .strictObject({ secret: secret.optional() })
  .meta({ id: 'RotateWebhookSecret', description: 'The new secret.', examples: [{}] })

export const attemptSchema = z
  .object({
    id: z.string().describe('Names the attempt.'),
    message_id: z.string().describe('The `webhook-id` of the call, the same for each attempt.'),
    event: z.enum([...WEBHOOK_EVENT_NAMES, TEST_EVENT]).describe('The `type` of the call.'),
    summary: z
      .string()
      .nullable()
      .describe(
        'What it is about, such as the short address of a link; null where it has no name.',
      ),
    try: z.int().describe('The first attempt is 1.'),
    at: timestamp.describe('When it began.'),
    took_ms: z.int().describe('How long it took, in milliseconds.'),
    ok: z.boolean().describe('Whether the answer was 2xx.'),
    status: z.int().nullable().describe('The status of the answer; null without one.'),
    fault: z.enum(FAULTS).nullable().describe(`Why it failed; null if it did not. ${FAULT}`),
    next_try_at: timestamp
      .nullable()
      .describe('When the event is sent again, if this was its last attempt and it waits.'),
    request: z
      .object({
        url: z.string().describe('Where it was sent.'),
        headers: z.record(z.string(), z.string()).describe('Signatures are left out.'),
        body: z.string().describe('Cut at 16 KiB.'),
      })
      .describe('What was sent.'),
    response: z
      .object({
        headers: z
          .record(z.string(), z.string())
          .describe('At most 4 KiB of them; cookies are left out.'),
        body: z.string().describe('Cut at 16 KiB; of 2xx, at 1 KiB.'),
      })
      .nullable()
      .describe('What was answered; null without an answer.'),
  })
  .meta({ id: 'WebhookAttempt', description: 'One attempt to deliver an event.' })

export const attemptPage = uncountedPageOf(attemptSchema, 'WebhookAttemptPage')

export const listAttemptsQuery = z.strictObject({
  per_page: perPageQuery,
  cursor: cursorText
    .optional()
    .describe(
      'The `meta.next_cursor` of the previous response, with the other parameters unchanged.',
    ),
  event: z
    .enum([...WEBHOOK_EVENT_NAMES, TEST_EVENT])
    .optional()
    .describe('Attempts of this event.'),
  message: line(100).optional().describe('Attempts of the call with this `webhook-id`.'),
  failed: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('`true`: only attempts that failed.'),
})

export const replayBody = z
  .strictObject({
    message_id: line(100).optional().describe('The call to send again, by its `webhook-id`.'),
    from: instantInput.optional().describe('Events from this instant on.'),
    to: instantInput.optional().describe('Events before this instant; now when left out.'),
    events: events.optional().describe('Only these; all of the endpoint when left out.'),
    undelivered: z
      .boolean()
      .optional()
      .describe('Whether to leave out what was delivered; false when left out.'),
    dry_run: z
      .boolean()
      .optional()
      .describe(
        'Whether only to count: nothing is sent, and `replay` has what would be queued. It is not `done` when there are more events than the service counts, some thousand.',
      ),
  })
  .meta({
    id: 'ReplayWebhook',
    description: 'One call by `message_id`, or the events of a period by `from`.',
    examples: [{ from: '2026-11-21T00:00:00Z', undelivered: true }],
  })

export type WebhookResource = z.output<typeof webhookSchema>
export type AttemptResource = z.output<typeof attemptSchema>
export type ListAttemptsQuery = z.output<typeof listAttemptsQuery>
export type ReplayBody = z.output<typeof replayBody>
export type AttemptFault = (typeof FAULTS)[number]
export type DisabledReason = (typeof DISABLED_REASONS)[number]
