import { parseDestination, type ServiceHost, type ServiceName } from '../hosts/index.ts'
import { Failure, type Parsed } from '../platform/failure.ts'
import type { Page, Run } from '../platform/http/api/pagination.ts'
import { type Clock, formatInstant } from '../platform/time/clock.ts'
import { type FairQueue, QueueRefusal } from '../platform/work/fair-queue.ts'
import { ScanTooLong } from '../storage/scans.ts'
import type { Store } from '../storage/store.ts'
import { keyOfPath } from './key.ts'
import type { Link } from './link.ts'
import { parseLinkHost } from './link-input.ts'
import {
  type HostCounts,
  type LinkAddress,
  type LinkFilter,
  type LinkQuery,
  type LinkRun,
  needsScan,
  searchLinks,
} from './link-query.ts'
import type { LinkStores } from './link-stores.ts'

/**
 * Characters of a search text that is matched within links. A pasted short link may be longer: it is
 * looked up by its address, which costs the same for any length.
 */
const SEARCH_LENGTH_MAX = 200

type ListDependencies = {
  readonly store: Store<Pick<LinkStores, 'links' | 'keyspaces'>>
  readonly clock: Clock
  readonly serviceHost: ServiceHost
  /** With `SEARCH_QUEUE`. */
  readonly searches: FairQueue
}

/** A query without the workspace, which is the actor's, and the time, which is that of the request. */
export type ActorQuery<F extends LinkFilter> = Omit<F, 'workspaceId' | 'now'>

/** Reads lists of links: by an index, or as a queued search that scans many rows. */
export class LinkLists {
  readonly #deps: ListDependencies

  constructor(deps: ListDependencies) {
    this.#deps = deps
  }

  async list(sent: LinkQuery): Promise<Page<Link>> {
    const query = await this.#resolve(sent)
    const read = () => this.#deps.store.read.links.page(query)
    return needsScan(query, query.sort.field)
      ? searchLinks(this.#deps.searches, query, read)
      : read()
  }

  async run(sent: LinkRun): Promise<Run<Link, number>> {
    const run = await this.#resolve(sent)
    const read = () => this.#deps.store.read.links.run(run)
    return needsScan(run) ? searchLinks(this.#deps.searches, run, read) : read()
  }

  async count(sent: LinkFilter): Promise<number> {
    const filter = await this.#resolve(sent)
    const read = () => this.#deps.store.read.links.count(filter)
    return needsScan(filter) ? searchLinks(this.#deps.searches, filter, read) : read()
  }

  /** Returns undefined when counting takes too long, or too many searches are waiting. */
  async countByHost(counts: HostCounts): Promise<ReadonlyMap<string, number> | undefined> {
    const { store, searches } = this.#deps
    const read = () => store.read.links.countByHost(counts)
    try {
      return await searches.run(counts.workspaceId, read, counts.signal)
    } catch (error) {
      if (error instanceof ScanTooLong || error instanceof QueueRefusal) return undefined
      throw error
    }
  }

  /** Returns the filter in the store's form: canonical texts, and the address of a pasted short link. */
  async #resolve<F extends LinkFilter>(sent: F): Promise<F> {
    const { clock, serviceHost, store } = this.#deps
    const { hosts, key, url, search } = sent
    const filter = {
      ...sent,
      hosts: hosts?.map((host) => parsed('domain', parseLinkHost(host, serviceHost))),
      key: key?.normalize('NFC'),
      url: url && parsed('url', parseDestination(url)),
      now: formatInstant(clock.nowMicros()),
    }
    if (search === undefined) return filter
    const shortLink = parsePastedLink(search, serviceHost)
    if (search.length <= SEARCH_LENGTH_MAX) return { ...filter, shortLink }
    const isOwn =
      shortLink !== undefined &&
      (shortLink.host === serviceHost.host ||
        (await store.read.keyspaces.find(sent.workspaceId, shortLink.host)) !== undefined)
    if (isOwn) return { ...filter, search: undefined, shortLink }
    throw Failure.invalid({ search: [{ code: 'too_long', max: SEARCH_LENGTH_MAX }] })
  }
}

/** @throws {Failure} `validation_failed` naming the parameter */
function parsed(parameter: string, result: Parsed<string>): string {
  if ('fault' in result) throw Failure.invalid({ [parameter]: [result.fault] })
  return result.value
}

const SCHEME = /^https?:\/\//i

/**
 * Parses a short link as a person pastes it: with or without scheme, port, query and fragment; the key
 * percent-encoded or not; the host in Unicode or A-label form. Returns undefined for any other text.
 */
function parsePastedLink(text: string, service: ServiceName): LinkAddress | undefined {
  const trimmed = text.trim()
  const url = URL.parse(SCHEME.test(trimmed) ? trimmed : `https://${trimmed}`)
  if (url === null || url.username !== '' || url.pathname === '/') return undefined
  const host = parseLinkHost(url.hostname, service)
  const key = keyOfPath(url.pathname)
  return 'fault' in host || key === undefined ? undefined : { host: host.value, key }
}
