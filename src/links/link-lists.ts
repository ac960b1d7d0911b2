import { parseDestination, type ServiceHost } from '../hosts/index.ts'
import type { Page, Run } from '../platform/database/page.ts'
import type { Store } from '../platform/database/store.ts'
import { Failure, type Parsed } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import { formatInstant } from '../platform/time/instant.ts'
import type { FairQueue } from '../platform/work/fair-queue.ts'
import type { Link } from './link.ts'
import {
  isFiltered,
  type LinkFilter,
  type LinkQuery,
  type LinkRun,
  needsScan,
} from './link-query.ts'
import { searchLinks } from './link-search.ts'
import type { LinkStores } from './link-stores.ts'
import { parseLinkHost } from './parse-link-host.ts'
import { parsePastedLink } from './pasted-link.ts'

/**
 * Characters of a text that is looked for within links. A pasted short link may be longer: it is looked
 * for by its address, which costs the same however long the text is.
 */
const SEARCH_LENGTH_MAX = 200

/** A list as an actor requests it, of whose workspace and when it is. */
export type Listed<F extends LinkFilter> = Omit<F, 'workspaceId' | 'now'>

export type LinkLists = {
  list(query: LinkQuery): Promise<Page<Link>>
  run(run: LinkRun): Promise<Run<Link, number>>
  count(filter: LinkFilter): Promise<number>
}

/** @param deps.searches for `SEARCH_QUEUE` */
export function linkLists(deps: {
  store: Store<Pick<LinkStores, 'links' | 'keyspaces'>>
  clock: Clock
  serviceHost: ServiceHost
  searches: FairQueue
}): LinkLists {
  const { serviceHost, searches } = deps
  const { links, keyspaces } = deps.store.read

  /** The filter as the store takes it. */
  async function resolve<F extends LinkFilter>(requested: F): Promise<F> {
    const { host, url, search } = requested
    const sent = {
      ...requested,
      host: host && parsed('domain', parseLinkHost(host, serviceHost)),
      url: url && parsed('url', parseDestination(url)),
      now: formatInstant(deps.clock.nowMicros()),
    }
    if (search === undefined) return sent
    const shortLink = parsePastedLink(search, serviceHost)
    if (search.length <= SEARCH_LENGTH_MAX) return { ...sent, shortLink }
    const isOurs =
      shortLink !== undefined &&
      (shortLink.host === serviceHost.host ||
        (await keyspaces.find(sent.workspaceId, shortLink.host)) !== undefined)
    if (isOurs) return { ...sent, search: undefined, shortLink }
    throw Failure.invalid({
      search: [`must have at most ${SEARCH_LENGTH_MAX} characters, or be a short link`],
    })
  }

  return {
    async list(sent) {
      const query = await resolve(sent)
      const read = () => links.page(query)
      return needsScan(query) ? searchLinks(searches, query, read) : read()
    },
    async run(sent) {
      const run = await resolve(sent)
      const read = () => links.run(run)
      return isFiltered(run) ? searchLinks(searches, run, read) : read()
    },
    async count(sent) {
      const filter = await resolve(sent)
      const read = () => links.count(filter)
      return isFiltered(filter) ? searchLinks(searches, filter, read) : read()
    },
  }
}

/** @throws {Failure} `validation_failed` naming the parameter */
function parsed(parameter: string, result: Parsed<string>): string {
  if ('fault' in result) throw Failure.invalid({ [parameter]: [result.fault] })
  return result.value
}
