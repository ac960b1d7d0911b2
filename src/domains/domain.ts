import { parseDestination, parseHost, type ServiceName } from '../hosts/index.ts'
import { systemActor } from '../identity/index.ts'
import { FaultList } from '../platform/failure.ts'
import { versionOf } from '../platform/version.ts'
import { changedFields, type EventFields, type NewEvent, setFields } from '../storage/event-log.ts'

export type DomainStatus = 'pending' | 'active'

/** A workspace's entry for a host. Several workspaces may have one; at most one of them is active. */
export type Domain = {
  readonly id: string
  readonly workspace_id: string
  /** Lower-case, in A-label form. */
  readonly host: string
  readonly status: DomainStatus
  readonly not_found_url: string | null
  readonly expired_url: string | null
  /** Microseconds since the epoch. */
  readonly created_at: number
  /** Microseconds since the epoch; increases with every update. */
  readonly updated_at: number
}

/** Identifies the state of everything that a write can change, for `If-Match`. */
export function domainVersion({ id, updated_at }: Domain): string {
  return versionOf(id, updated_at)
}

/** Identifies which domain is the default one of its workspace, for `If-Match`. */
export function defaultVersion(domain: Domain | undefined): string {
  return versionOf(domain?.host ?? null)
}

/** The validity period of a certificate, in microseconds since the epoch. */
export type CertificateLife = {
  readonly notBefore: number
  readonly notAfter: number
}

/** The state of a host's certificate and of its order, for reports to people. */
export type CertificateStanding = {
  /** The validity of the current certificate; null while there is none. */
  readonly life: CertificateLife | null
  /** What prevents the first certificate or the renewal, as text; null when nothing does. */
  readonly problem: string | null
  /** The time of the next attempt, in microseconds since the epoch; null when none is planned. */
  readonly nextAttemptAt: number | null
}

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

/** The body of a create or an update: an omitted field stays unchanged, null clears it. */
export type DomainInput = {
  readonly domain?: string | undefined
  readonly not_found_url?: string | null | undefined
  readonly expired_url?: string | null | undefined
}

/** The changes of an input, in their stored form. */
export type DomainChanges = {
  readonly host?: string
  readonly not_found_url?: string | null
  readonly expired_url?: string | null
}

/** @throws {Failure} `validation_failed` naming every field that is wrong */
export function parseDomainInput(input: DomainInput, service: ServiceName): DomainChanges {
  const faults = new FaultList()
  const host =
    input.domain === undefined ? undefined : faults.take('domain', parseHost(input.domain))
  if (host === service.host) faults.add('domain', { code: 'reserved', reason: 'shared' })
  const changes = {
    ...(host !== undefined && { host }),
    ...parseFallback('not_found_url', input.not_found_url, faults),
    ...parseFallback('expired_url', input.expired_url, faults),
  }
  faults.throwIfAny()
  return changes
}

function parseFallback<F extends 'not_found_url' | 'expired_url'>(
  field: F,
  text: string | null | undefined,
  faults: FaultList,
): { [K in F]?: string | null } {
  if (text === undefined) return {}
  if (text === null) return { [field]: null } as { [K in F]: null }
  const url = faults.take(field, parseDestination(text))
  return url === undefined ? {} : ({ [field]: url } as { [K in F]: string })
}
