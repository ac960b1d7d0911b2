import { infiniteQueryOptions } from '@tanstack/react-query'
import type { EventPageResource, EventResource } from '@terse/contract/events'
import { request } from './request.ts'

export type { EventResource }

export const AUDIT_KINDS = ['links', 'domains', 'people', 'tokens', 'workspace'] as const
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** Which events of the workspace. Days are `YYYY-MM-DD` in the time zone of the browser, both included. */
export type AuditFilter = {
  readonly kind?: AuditKind | undefined
  readonly actor?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

const TYPES: Readonly<Record<AuditKind, readonly EventResource['type'][]>> = {
  links: [
    'link.created',
    'link.updated',
    'link.deleted',
    'link.expired',
    'link.limit_reached',
    'import.started',
    'import.completed',
    'import.failed',
    'import.cancelled',
    'rule_set.created',
    'rule_set.updated',
    'rule_set.deleted',
    'utm_template.created',
    'utm_template.updated',
    'utm_template.deleted',
  ],
  domains: [
    'domain.created',
    'domain.updated',
    'domain.deleted',
    'domain.verified',
    'domain.unverified',
    'certificate.issued',
    'certificate.failed',
  ],
  people: [
    'member.added',
    'member.updated',
    'member.removed',
    'invitation.created',
    'invitation.deleted',
    'invitation.accepted',
    'mail.dropped',
  ],
  tokens: ['token.created', 'token.revoked'],
  workspace: [
    'workspace.created',
    'workspace.updated',
    'workspace.deleted',
    'workspace.exported',
    'workspace.export_completed',
    'webhook.created',
    'webhook.updated',
    'webhook.deleted',
    'webhook.secret_rotated',
    'webhook.disabled',
  ],
}

const EVENTS_PER_PAGE = 50

/** The audit trail, the newest first, page by page. */
export function auditQuery({ kind, actor, from, to }: AuditFilter) {
  const filter = {
    type: kind && TYPES[kind],
    actor,
    from: from && startOf(from, 0),
    to: to && startOf(to, 1),
    per_page: EVENTS_PER_PAGE,
  }
  return infiniteQueryOptions({
    queryKey: ['events', filter],
    queryFn: ({ signal, pageParam: cursor }) =>
      request<EventPageResource>('GET', '/events', { query: { ...filter, cursor }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    staleTime: 5_000,
  })
}

/** The start of a day, or of one that many days later, as an instant. */
function startOf(day: string, daysLater: number): string {
  const start = new Date(`${day}T00:00:00`)
  start.setDate(start.getDate() + daysLater)
  return start.toISOString()
}
