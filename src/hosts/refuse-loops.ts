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
/** The host to which the destination in a field leads. */
type LeadingHost = { readonly field: string; readonly host: string }

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
  const leading = leadingHosts(service, destinations)
  const served = await servedAmong(stores, workspaceId, leading)
  return (on) => refuseLeadingBack(leading, served, [service.host, on])
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
  const leading = links.flatMap((each) => leadingHosts(service, each))
  const served = await servedAmong(stores, workspaceId, leading)
  return (on, destinations) =>
    refuseLeadingBack(leadingHosts(service, destinations), served, [service.host, on])
}

/** Returns the hosts to which destinations lead. */
function leadingHosts(service: ServiceName, destinations: Destinations): LeadingHost[] {
  const hosts: LeadingHost[] = []
  for (const [field, destination] of Object.entries(destinations)) {
    const host = destination ? hostThatCouldLoop(destination, service) : undefined
    if (host !== undefined) hosts.push({ field, host })
  }
  return hosts
}

async function servedAmong(
  { domains }: ServedHosts,
  workspaceId: string,
  leading: readonly LeadingHost[],
): Promise<ReadonlySet<string>> {
  if (leading.length === 0) return new Set()
  const hosts = new Set(leading.map(({ host }) => host))
  return new Set(await domains.servedAmong(workspaceId, [...hosts]))
}

/** @throws {Failure} `validation_failed` */
function refuseLeadingBack(
  leading: readonly LeadingHost[],
  served: ReadonlySet<string>,
  own: readonly string[],
): void {
  const faults = new FaultList()
  for (const { field, host } of leading) {
    if (served.has(host) || own.includes(host)) {
      faults.add(field, `must not lead to ${formatHost(host)}, which is served here`)
    }
  }
  faults.throwIfAny()
}
