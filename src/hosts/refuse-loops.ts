import { FaultList } from '../platform/failure.ts'
import { hostThatCouldLoop } from './destination.ts'
import { formatHost } from './host.ts'
import type { ServiceName } from './service-host.ts'

/** The part of `DomainStore` that returns which hosts are served. */
type ServedHosts = {
  readonly domains: {
    servedAmong(workspaceId: string, hosts: readonly string[]): Promise<readonly string[]>
  }
}
type Destinations = Readonly<Record<string, string | null | undefined>>

/**
 * Refuses destinations that would lead a visitor back to this service: to its own host, to a served
 * host, or to the host that the destinations are set on.
 *
 * @param on the workspace and the host that the destinations are set on; the host may not be
 *   active yet
 * @param destinations the destinations by field name
 * @throws {Failure} `validation_failed` with every invalid field
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

/**
 * Like `refuseLoops`, in two steps: reads the served hosts, and returns a function that takes the
 * host that the destinations are set on and refuses loops.
 */
export async function lookForLoops(
  stores: ServedHosts,
  service: ServiceName,
  workspaceId: string,
  destinations: Destinations,
): Promise<(host: string) => void> {
  const refuse = await lookForManyLoops(stores, service, workspaceId, [destinations])
  return (on) => refuse(on, destinations)
}

/**
 * Like `lookForLoops`, for the destinations of several links, which are read at once. The returned function takes
 * those of one link.
 */
export async function lookForManyLoops(
  stores: ServedHosts,
  service: ServiceName,
  workspaceId: string,
  links: readonly Destinations[],
): Promise<(on: string, destinations: Destinations) => void> {
  const hosts = new Set(links.flatMap((each) => [...leadingHosts(service, each).values()]))
  if (hosts.size === 0) return () => {}
  const served = new Set(await stores.domains.servedAmong(workspaceId, [...hosts]))
  return (on, destinations) => {
    const faults = new FaultList()
    for (const [field, host] of leadingHosts(service, destinations)) {
      if (served.has(host) || host === service.host || host === on) {
        faults.add(field, `must not lead to ${formatHost(host)}, which is served here`)
      }
    }
    faults.throwIfAny()
  }
}

/** Returns the hosts to which destinations lead, by field. */
function leadingHosts(
  service: ServiceName,
  destinations: Destinations,
): ReadonlyMap<string, string> {
  const hosts = new Map<string, string>()
  for (const [field, destination] of Object.entries(destinations)) {
    const host = destination ? hostThatCouldLoop(destination, service) : undefined
    if (host !== undefined) hosts.set(field, host)
  }
  return hosts
}
