import type { DomainStore } from '../domains/domain-store.ts'
import type { ServiceName } from '../domains/service-host.ts'
import { FaultList } from '../failure.ts'
import { hostThatCouldLoop } from './destination.ts'

/**
 * Refuses destinations that would lead a visitor back here: to the service's own host, to a host that
 * is served, or to the one that they are set on.
 *
 * @param on whose they are and the host that they are set on, which may not be active yet
 * @param destinations by the names of their fields
 * @throws {Failure} `validation_failed` naming every field that is wrong
 */
export async function refuseLoops(
  stores: { readonly domains: Pick<DomainStore, 'servedAmong'> },
  service: ServiceName,
  on: { readonly workspaceId: string; readonly host: string },
  destinations: Readonly<Record<string, string | null | undefined>>,
): Promise<void> {
  const hosts = new Map<string, string>()
  for (const [field, destination] of Object.entries(destinations)) {
    const host = destination ? hostThatCouldLoop(destination, service) : undefined
    if (host !== undefined) hosts.set(field, host)
  }
  if (hosts.size === 0) return
  const served = new Set(await stores.domains.servedAmong(on.workspaceId, [...hosts.values()]))
  served.add(service.host).add(on.host)
  const faults = new FaultList()
  for (const [field, host] of hosts) {
    if (served.has(host)) faults.add(field, `must not lead to ${host}, which is served here`)
  }
  faults.throwIfAny()
}
