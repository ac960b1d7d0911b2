import { systemActor } from '../identity/index.ts'
import { changedFields, type EventFields, type NewEvent, setFields } from '../storage/event-log.ts'
import type { Domain } from './domain.ts'

/** Changes of a domain's status have this actor, even when a token requested the check. */
export const domainChecker = systemActor('domain checks')

export function domainCreated(domain: Domain): NewEvent {
  const after = setFields(fieldsOf(domain))
  return { type: 'domain.created', subjectId: domain.id, before: null, after }
}

export function domainUpdated(from: Domain, to: Domain): NewEvent {
  const changed = changedFields(fieldsOf(from), fieldsOf(to))
  return { type: 'domain.updated', subjectId: to.id, ...changed }
}

export function hstsUpdated(domain: Domain, from: number | null, to: number | null): NewEvent {
  const changed = changedFields({ hsts_max_age: from }, { hsts_max_age: to })
  return { type: 'domain.updated', subjectId: domain.id, ...changed }
}

/** A workspace has one default domain: a new one ends the one before. */
export function defaultChanged(domain: Domain, isDefault: boolean): NewEvent {
  const changed = changedFields({ is_default: !isDefault }, { is_default: isDefault })
  return { type: 'domain.updated', subjectId: domain.id, ...changed }
}

export function domainDeleted(domain: Domain): NewEvent {
  const before = setFields(fieldsOf(domain))
  return { type: 'domain.deleted', subjectId: domain.id, before, after: null }
}

export function domainVerified({ id, host }: Domain): NewEvent {
  return {
    type: 'domain.verified',
    subjectId: id,
    before: { domain: host, status: 'pending' },
    after: { domain: host, status: 'active' },
  }
}

export function domainUnverified({ id, host }: Domain): NewEvent {
  return {
    type: 'domain.unverified',
    subjectId: id,
    before: { domain: host, status: 'active' },
    after: { domain: host, status: 'pending' },
  }
}

function fieldsOf({ host, status, not_found_url, expired_url }: Domain): EventFields {
  return { domain: host, status, not_found_url, expired_url }
}
