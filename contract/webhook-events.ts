import { z } from 'zod'
import { exportedClick } from './clicks.ts'
import { type EventResource, eventSchema } from './events.ts'
import { timestamp, uuid } from './primitives.ts'

/** What an event that a webhook is called for is about. */
type WebhookSubject = 'link' | 'clicks' | 'conversion' | 'domain' | 'member' | 'job'

type WebhookEventKind = {
  readonly about: WebhookSubject
  /** The types of the event log that become this one; none for what is in no log. */
  readonly from: readonly EventResource['type'][]
  readonly summary: string
}

/**
 * What webhooks can be called for. To add one: an entry here, and its words in `web/src/text/*\/webhooks.ts`, which the
 * compiler asks for.
 */
export const WEBHOOK_EVENTS = {
  'link.created': { about: 'link', from: ['link.created'], summary: 'A link was created' },
  'link.changed': { about: 'link', from: ['link.updated'], summary: 'A link was changed' },
  'link.deleted': { about: 'link', from: ['link.deleted'], summary: 'A link was deleted' },
  'link.expired': { about: 'link', from: ['link.expired'], summary: 'A link has expired' },
  'link.limit_reached': {
    about: 'link',
    from: ['link.limit_reached'],
    summary: 'A link has had all clicks of its limit',
  },
  'link.clicked': { about: 'clicks', from: [], summary: 'Links were clicked' },
  'conversion.recorded': {
    about: 'conversion',
    from: ['conversion.recorded'],
    summary: 'A conversion was recorded',
  },
  'domain.active': {
    about: 'domain',
    from: ['domain.verified'],
    summary: 'A domain became active',
  },
  'domain.lost': {
    about: 'domain',
    from: ['domain.unverified'],
    summary: 'A domain lost its proof',
  },
  'certificate.failed': {
    about: 'domain',
    from: ['certificate.failed'],
    summary: 'A certificate could not be obtained',
  },
  'member.changed': {
    about: 'member',
    from: ['member.added', 'member.updated', 'member.removed'],
    summary: 'A member was added, got another role or was removed',
  },
  'job.finished': {
    about: 'job',
    from: ['import.completed', 'import.failed', 'import.cancelled', 'workspace.export_completed'],
    summary: 'An import or an export of the workspace ended',
  },
} as const satisfies Readonly<Record<string, WebhookEventKind>>

export type WebhookEvent = keyof typeof WEBHOOK_EVENTS

export const WEBHOOK_EVENT_NAMES = Object.keys(WEBHOOK_EVENTS) as WebhookEvent[]

/** What a test sends. It is sent to every endpoint, whatever its events. */
export const TEST_EVENT = 'webhook.test'

const { sequence, actor, before, after } = eventSchema.shape

const logged = z.object({
  workspace_id: uuid.describe('The workspace in which it happened.'),
  sequence: sequence.describe('The number of the event in `GET /api/v1/events`.'),
  logged_as: eventSchema.shape.type.describe('Its type in `GET /api/v1/events`.'),
  subject_id: uuid.describe('The identifier of what was changed.'),
  actor,
  before,
  after,
})

const linkReference = z.object({
  id: uuid.describe('Identifier of the link.'),
  domain: z.string().describe('Its domain.'),
  key: z.string().describe('Its key.'),
  link: z.string().describe('Its short address.'),
  url: z.string().describe('Its destination.'),
  tags: z.array(z.string()).describe('Its tags.'),
})

const DATA = {
  link: logged.extend({
    link: linkReference
      .nullable()
      .describe(
        'The link as it was when the event was queued, or before it was deleted; null for a change of a link that was deleted since.',
      ),
  }),
  clicks: z.object({
    workspace_id: uuid.describe('The workspace of the links.'),
    clicks: z
      .array(exportedClick.omit({ visitor: true }))
      .describe('1 to 1,000 clicks in the order in which they were counted. No address is in it.'),
  }),
  conversion: logged.extend({
    link: linkReference
      .nullable()
      .describe('The link that brought it; null for one that was deleted since.'),
  }),
  domain: logged.extend({ domain: z.string().describe('The name of the domain.') }),
  member: logged,
  job: logged,
} as const satisfies Readonly<Record<WebhookSubject, z.ZodType>>

const test = z.object({
  workspace_id: uuid.describe('The workspace of the endpoint.'),
  message: z.string().describe('A sentence for people.'),
})

function envelope<T extends z.ZodType>(type: string, data: T) {
  return z.object({
    type: z.literal(type),
    timestamp: timestamp.describe('When it happened; of clicks, when the last one was counted.'),
    data,
  })
}

/** The body of each call, by its type. */
export const WEBHOOK_BODIES: Readonly<Record<string, z.ZodType>> = Object.fromEntries([
  ...WEBHOOK_EVENT_NAMES.map(
    (name) => [name, envelope(name, DATA[WEBHOOK_EVENTS[name].about])] as const,
  ),
  [TEST_EVENT, envelope(TEST_EVENT, test)] as const,
])
