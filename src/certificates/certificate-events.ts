import type { Domain } from '../domains/index.ts'
import { systemActor } from '../identity/index.ts'
import { formatInstant } from '../platform/time/clock.ts'
import type { EventWriter, NewEvent } from '../storage/event-log.ts'
import type { Certificate } from './certificate.ts'

/** What events of certificates are written to. */
export type CertificateEventStores = {
  readonly events: EventWriter
  readonly domains: { findActive(host: string): Promise<Domain | undefined> }
}

const certificateOrders = systemActor('certificate orders')

export function logIssued(
  stores: CertificateEventStores,
  { host, notBefore, notAfter }: Certificate,
  now: number,
): Promise<void> {
  const after = {
    domain: host,
    valid_from: formatInstant(notBefore),
    valid_until: formatInstant(notAfter),
  }
  return log(stores, host, { type: 'certificate.issued', before: null, after }, now)
}

/** @param reason as the workspace sees it in the report on its DNS */
export function logFailed(
  stores: CertificateEventStores,
  host: string,
  reason: string,
  now: number,
): Promise<void> {
  const after = { domain: host, problem: reason }
  return log(stores, host, { type: 'certificate.failed', before: null, after }, now)
}

/** Writes an event of the domain that has the host. The service's own host is in no workspace. */
async function log(
  stores: CertificateEventStores,
  host: string,
  event: Omit<NewEvent, 'subjectId'>,
  now: number,
): Promise<void> {
  const domain = await stores.domains.findActive(host)
  if (domain === undefined) return
  const author = certificateOrders(domain.workspace_id)
  await stores.events.append(author, { ...event, subjectId: domain.id }, now)
}
