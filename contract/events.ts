import { z } from 'zod'
import { cursorText, perPageQuery, uncountedPageOf } from './pagination.ts'
import { instantInput, timestamp, uuid } from './primitives.ts'

const EVENT_TYPES = [
  'link.created',
  'link.updated',
  'link.deleted',
  'link.expired',
  'link.limit_reached',
  'import.started',
  'import.completed',
  'import.failed',
  'import.cancelled',
  'utm_template.created',
  'utm_template.updated',
  'utm_template.deleted',
  'rule_set.created',
  'rule_set.updated',
  'rule_set.deleted',
  'conversion.recorded',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.disabled',
  'domain.created',
  'domain.updated',
  'domain.deleted',
  'domain.verified',
  'domain.unverified',
  'certificate.issued',
  'certificate.failed',
  'token.created',
  'token.revoked',
  'assistant.allowed',
  'assistant.withdrawn',
  'workspace.created',
  'workspace.updated',
  'workspace.deleted',
  'workspace.exported',
  'workspace.export_completed',
  'member.added',
  'member.updated',
  'member.removed',
  'invitation.created',
  'invitation.deleted',
  'invitation.accepted',
  'mail.dropped',
  'person.created',
  'person.updated',
  'person.disabled',
  'person.enabled',
  'person.deleted',
  'password.changed',
  'password_reset.created',
  'session.created',
  'session.ended',
  'totp.created',
  'totp.deleted',
  'recovery_codes.created',
  'recovery_code.used',
  'passkey.created',
  'passkey.updated',
  'passkey.deleted',
  'identity.created',
  'identity.deleted',
] as const

const type = z.enum(EVENT_TYPES)
const fields = z.record(z.string(), z.unknown()).nullable()

export const eventSchema = z
  .object({
    sequence: z.int().describe('Number of the event, unique in this instance.'),
    at: timestamp.describe('When it happened.'),
    workspace_id: uuid
      .nullable()
      .describe('The workspace in which it happened; null for changes that belong to none.'),
    actor: z
      .object({
        kind: z
          .enum(['token', 'person', 'system'])
          .describe('`system` is the service itself, or its operator at the command line.'),
        id: uuid.nullable().describe('The identifier of the token or person; null for `system`.'),
        name: z.string().describe('The name of the token, person or part of the service.'),
      })
      .describe('Who caused it.'),
    request_id: z
      .string()
      .nullable()
      .describe('The `X-Request-Id` of the request that caused it; null without a request.'),
    type: z.enum(EVENT_TYPES).describe('What happened.'),
    subject_id: uuid
      .nullable()
      .describe(
        'The identifier of what was changed, such as a link, domain, token or person; null for a person who was deleted.',
      ),
    subject_name: z
      .string()
      .nullable()
      .describe(
        'The address of a link, such as `go.example.org/sale`, as it is now, or was when it was deleted; null for other subjects, and where it is not known.',
      ),
    before: fields.describe('The changed fields before; null when the subject was created.'),
    after: fields.describe(
      'The changed fields afterwards; null when the subject was deleted. Of a new subject, fields without a value are left out. A password appears only as the text `changed` or `removed`.',
    ),
  })
  .meta({ id: 'Event', description: 'A change in the workspace.' })

export const eventPage = uncountedPageOf(eventSchema, 'EventPage')

export const listEventsQuery = z.strictObject({
  per_page: perPageQuery,
  cursor: cursorText
    .optional()
    .describe(
      'The `meta.next_cursor` of the previous response, with the other parameters unchanged; empty or left out for the first page. Each event is returned exactly once. Events that are newer than the first page are not returned.',
    ),
  type: z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(type))
    .optional()
    .describe('Events of this type. If sent several times: events of any of the types.'),
  subject: uuid
    .toLowerCase()
    .optional()
    .describe('Events of this link, domain, token, person or workspace.'),
  actor: uuid.toLowerCase().optional().describe('Events that this token or person caused.'),
  from: instantInput.optional().describe('Events from this instant on.'),
  to: instantInput.optional().describe('Events before this instant.'),
})

export type ListEventsQuery = z.output<typeof listEventsQuery>
export type EventResource = z.output<typeof eventSchema>
export type EventPageResource = z.output<typeof eventPage>
