import { hostThatCouldLoop, type KeyspaceStore, type ServiceHost } from '../hosts/index.ts'
import { FaultList } from '../platform/failure.ts'
import { waitForAll } from '../platform/work/async.ts'
import { foldKey, keyOfPath } from './key.ts'
import type { Link } from './link.ts'
import type { LinkDirectory, VisitedLink } from './store/link-directory.ts'

/** Links that are read to follow the destinations of one. */
const LINKS_READ_MAX = 20

type LoopStores = { readonly keyspaces: KeyspaceStore; readonly directory: LinkDirectory }
/** The destinations by field name. */
type Destinations = Readonly<Record<string, string | null | undefined>>
/** The keyspaces that a workspace has on hosts; undefined for a host where it has none. */
type Keyspaces = Map<string, number | undefined>
/** A link as it will be. */
type PlacedLink = Pick<Link, 'id' | 'workspace_id' | 'domain'> & {
  /** Undefined for one that is generated later: no destination can be known to lead to it. */
  readonly key: string | undefined
}
type Address = { readonly host: string; readonly key: string }

/**
 * Refuses destinations that are the link's own address. It needs no store, so it decides the same whatever other
 * links there are.
 *
 * @throws {Failure} `validation_failed` with every such field
 */
export function refuseOwnAddress(
  service: ServiceHost,
  link: PlacedLink,
  destinations: Destinations,
): void {
  const faults = new FaultList()
  for (const [field, destination] of Object.entries(destinations)) {
    const address = destination ? addressOf(destination, service) : undefined
    if (address?.host === link.domain && address.key === link.key) {
      faults.add(field, { code: 'loop', reason: 'itself' })
    }
  }
  faults.throwIfAny()
}

/** Reads the keyspaces to which destinations lead, for `refuseLoops`. */
export async function findKeyspaces(
  stores: LoopStores,
  service: ServiceHost,
  workspaceId: string,
  destinations: Destinations,
): Promise<Keyspaces> {
  const hosts = Object.values(destinations).flatMap(
    (destination) => (destination && addressOf(destination, service)?.host) ?? [],
  )
  const found = await waitForAll(
    [...new Set(hosts)].map(
      async (host) => [host, await findKeyspace(stores, service, workspaceId, host)] as const,
    ),
  )
  return new Map(found)
}

/**
 * Refuses destinations that lead back to the link, at once or through other links of its workspace. What leads back
 * through links of other workspaces is not refused, which would tell of them: a visit finds it out
 * (src/redirects/loop-detector.ts).
 *
 * @param keyspaces what `findKeyspaces` has read for these destinations
 * @throws {Failure} `validation_failed` with every such field
 */
export async function refuseLoops(
  stores: LoopStores,
  service: ServiceHost,
  link: PlacedLink,
  destinations: Destinations,
  keyspaces: Keyspaces,
): Promise<void> {
  refuseOwnAddress(service, link, destinations)
  const { key } = link
  if (key === undefined) return
  const faults = new FaultList()
  const follower = new Follower(stores, service, { ...link, key }, keyspaces)
  for (const [field, destination] of Object.entries(destinations)) {
    if (destination && (await follower.leadsBack(destination))) {
      faults.add(field, { code: 'loop', reason: 'links' })
    }
  }
  faults.throwIfAny()
}

/** Follows destinations through the links of a workspace. */
class Follower {
  readonly #stores: LoopStores
  readonly #service: ServiceHost
  readonly #link: PlacedLink & { readonly key: string }
  readonly #keyspaces: Keyspaces

  constructor(
    stores: LoopStores,
    service: ServiceHost,
    link: PlacedLink & { readonly key: string },
    keyspaces: Keyspaces,
  ) {
    this.#stores = stores
    this.#service = service
    this.#link = link
    this.#keyspaces = keyspaces
  }

  async leadsBack(destination: string): Promise<boolean> {
    const passed = new Set<string>()
    const ahead = [destination]
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      const address = addressOf(next, this.#service)
      if (address === undefined) continue
      const found = await this.#find(address)
      if (found === 'this') return true
      if (found === undefined || passed.has(found.id)) continue
      passed.add(found.id)
      if (passed.size === LINKS_READ_MAX) return false
      const { url, ios, android, expires_at, expired_redirect_url } = found
      const places = [url, ios, android, expires_at === null ? null : expired_redirect_url]
      ahead.push(...places.filter((place) => place !== null))
    }
    return false
  }

  /** Returns the link of the workspace that a visit to the address will find, or that it is the one to write. */
  async #find({ host, key }: Address): Promise<VisitedLink | 'this' | undefined> {
    const { id, workspace_id: workspaceId, domain } = this.#link
    const isVariant = host === domain && foldKey(key) === foldKey(this.#link.key)
    if (isVariant && key === this.#link.key) return 'this'
    if (!this.#keyspaces.has(host)) {
      const found = await findKeyspace(this.#stores, this.#service, workspaceId, host)
      this.#keyspaces.set(host, found)
    }
    const keyspaceId = this.#keyspaces.get(host)
    if (keyspaceId === undefined) return isVariant ? 'this' : undefined
    const { directory } = this.#stores
    const stored = await directory.findByFoldedKey(keyspaceId, foldKey(key))
    const exact =
      stored.find((each) => each.key === key) ??
      (stored.length > 1 ? await directory.findByKey(keyspaceId, key) : undefined)
    const others = stored.filter((each) => each.id !== id)
    const only = others.length + Number(isVariant) === 1 ? (others[0] ?? 'this') : undefined
    const found = exact !== undefined && exact.id !== id ? exact : only
    return found === 'this' || found?.workspace_id === workspaceId ? found : undefined
  }
}

function findKeyspace(
  { keyspaces }: LoopStores,
  service: ServiceHost,
  workspaceId: string,
  host: string,
): Promise<number | undefined> {
  return host === service.host
    ? Promise.resolve(service.keyspaceId)
    : keyspaces.find(workspaceId, host)
}

/** Returns the host and key of a destination that may be a short link of this instance. */
function addressOf(destination: string, service: ServiceHost): Address | undefined {
  const host = hostThatCouldLoop(destination, service)
  if (host === undefined) return undefined
  const { pathname } = new URL(destination)
  const key = pathname === '/' ? undefined : keyOfPath(pathname)
  return key === undefined ? undefined : { host, key }
}
