import { FaultList } from '../platform/failure.ts'
import { hostThatCouldLoop } from './destination.ts'
import { formatHost } from './host.ts'
import type { ServiceName } from './service-host.ts'

/** What says which hosts are served: see `DomainStore`. */
type ServedHosts = {
  readonly domains: {
    servedAmong(workspaceId: string, hosts: readonly string[]): Promise<readonly string[]>
  }
}
type Destinations = Readonly<Record<string, string | null | undefined>>

/**
 * Refuses destinations that would lead a visitor back here: to the service's own host, to a host that
 * is served, or to the one that they are set on.
 *
 * @param on whose they are and the host that they are set on, which may not be active yet
 * @param destinations by the names of their fields
 * @throws {Failure} `validation_failed` naming every field that is wrong
 */
export async function refuseLoops(
  stores: ServedHosts,
  service: ServiceName,
  on: { readonly workspaceId: string; readonly host: string },
  destinations: Destinations,
): Promise<void> {
  const refuseOn = await lookForLoops(stores, service, on.workspaceId, destinations)
  refuseOn(on.host)
}

/** As `refuseLoops`, in two steps: returns what refuses them, given the host that they are set on. */
export async function lookForLoops(
  stores: ServedHosts,
  service: ServiceName,
  workspaceId: string,
  destinations: Destinations,
): Promise<(host: string) => void> {
  const hosts = new Map<string, string>()
  for (const [field, destination] of Object.entries(destinations)) {
    const host = destination ? hostThatCouldLoop(destination, service) : undefined
    if (host !== undefined) hosts.set(field, host)
  }
  if (hosts.size === 0) return () => {}
  const served = new Set(await stores.domains.servedAmong(workspaceId, [...hosts.values()]))
  return (on) => {
    const faults = new FaultList()
    for (const [field, host] of hosts) {
      if (served.has(host) || host === service.host || host === on) {
        faults.add(field, `must not lead to ${formatHost(host)}, which is served here`)
      }
    }
    faults.throwIfAny()
  }
}
