import type { ServiceHost } from '../../hosts/index.ts'
import { keyOfPath } from '../../links/index.ts'
import { Failure } from '../../platform/failure.ts'
import { isPrivateAddress } from '../../platform/network/ip-address.ts'
import { closeAgents, guardedAgents } from '../../platform/network/outgoing-request.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Store } from '../../storage/store.ts'
import type { ImportRowStore, ImportStore } from '../store/import-store.ts'
import { compareAnswers, type LinkAnswer, ourAnswer, type VerifyStores } from './answers.ts'
import { LinkAsker } from './link-asker.ts'

const AT_ONCE = 10
/** Terse on a machine of its own needs no protection from its operator. */
const TERSE_REQUESTS_PER_SECOND = 100
const IMPORTS_MAX = 100

type Stores = VerifyStores & {
  readonly imports: Pick<ImportStore, 'find' | 'list'>
  readonly importRows: Pick<ImportRowStore, 'list'>
}

export type VerificationOptions = OldService & {
  /** Undefined for the newest import that has succeeded. */
  readonly importId: string | undefined
  readonly requestsPerSecond: number
  /** Whether the old service may be in a private network. */
  readonly allowsPrivate: boolean
  /** Where Terse is asked; undefined to decide without asking it. */
  readonly terseAt: URL | undefined
  readonly signal: AbortSignal
}

type LinkVerificationDependencies = {
  readonly store: Pick<Store<Stores>, 'read'>
  readonly serviceHost: ServiceHost
  readonly clock: Clock
}

/** Compares what visitors of imported links get from the old service and from Terse. */
export class LinkVerification {
  readonly #deps: LinkVerificationDependencies

  constructor(deps: LinkVerificationDependencies) {
    this.#deps = deps
  }

  /**
   * @throws {Failure} `not_found` when the workspace has no such import
   * @throws {PrivateServiceFault} at the first link at a private address, unless they are allowed
   */
  async *run(
    workspaceId: string,
    options: VerificationOptions,
  ): AsyncGenerator<VerifiedPair, void, void> {
    const { requestsPerSecond, allowsPrivate, signal } = options
    const importId = await this.#getImportId(workspaceId, options.importId)
    const agents = guardedAgents((address) => allowsPrivate || !isPrivateAddress(address))
    const terseAgents = guardedAgents(() => true)
    const old = new LinkAsker({ agents, requestsPerSecond })
    try {
      yield* verifyLinks(importedPairs(this.#deps.store.read.importRows, importId, options), {
        askOld: (link) => old.ask(link, signal),
        askTerse:
          options.terseAt === undefined
            ? (link) => this.#decide(workspaceId, link)
            : askTerse(options.terseAt, terseAgents, signal),
        atOnce: AT_ONCE,
      })
    } finally {
      closeAgents(agents)
      closeAgents(terseAgents)
    }
  }

  #decide(workspaceId: string, { host, pathname }: URL) {
    const nowMs = Math.floor(this.#deps.clock.nowMicros() / 1_000)
    const deps = { store: this.#deps.store, serviceHost: this.#deps.serviceHost, nowMs }
    return ourAnswer(deps, workspaceId, { host, key: keyOfPath(pathname) ?? '' })
  }

  async #getImportId(workspaceId: string, id: string | undefined): Promise<string> {
    const { imports } = this.#deps.store.read
    const found =
      id === undefined
        ? (await imports.list(workspaceId, { limit: IMPORTS_MAX })).find(
            ({ status, is_dry_run }) => status === 'succeeded' && is_dry_run === 0,
          )
        : await imports.find(workspaceId, id)
    if (found === undefined) throw Failure.notFound('Import')
    return found.id
  }
}

function askTerse(
  { protocol, hostname, port }: URL,
  agents: ReturnType<typeof guardedAgents>,
  signal: AbortSignal,
) {
  const asker = new LinkAsker({
    agents,
    requestsPerSecond: TERSE_REQUESTS_PER_SECOND,
    connectTo: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
    },
  })
  return (link: URL) => {
    const url = new URL(link)
    url.protocol = protocol
    return asker.ask(url, signal)
  }
}

const BATCH_SIZE = 500

type OldService = {
  /** Where its own domain is, for links that name none. */
  readonly ownUrl: URL | undefined
  /** The scheme of the source's other domains. */
  readonly scheme: 'http' | 'https'
}

/**
 * Returns the links that an import made or found, with their links at the old service, in the order of the source.
 *
 * @throws {Error} when a link is on the service's own domain, and that is not given
 */
async function* importedPairs(
  importRows: Pick<ImportRowStore, 'list'>,
  importId: string,
  service: OldService,
): AsyncGenerator<LinkPair, void, void> {
  for (let beyond = 0; ; ) {
    const rows = await importRows.list(importId, beyond, BATCH_SIZE)
    for (const { old_link, link, link_id } of rows) {
      const linkUrl = link === null ? null : urlOf(link)
      if (link_id === null || linkUrl === null) continue
      yield { oldLink: oldUrlOf(old_link, service), link: linkUrl }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    beyond = last.number
  }
}

function oldUrlOf(oldLink: string, { ownUrl, scheme }: OldService): URL {
  if (!oldLink.startsWith('/')) return getUrl(`${scheme}://${oldLink}`)
  if (ownUrl === undefined) {
    throw new Error(
      'The import has links on the own domain of the old service: name it with --old-url.',
    )
  }
  return getUrl(`${ownUrl.href.replace(/\/+$/, '')}${oldLink}`)
}

function getUrl(text: string): URL {
  const url = urlOf(text)
  if (url === null) throw new Error(`${text} is no URL.`)
  return url
}

/** Encodes what stands for itself in keys, and means something else in URLs. */
function urlOf(shortLink: string): URL | null {
  return URL.parse(shortLink.replaceAll('%', '%25').replaceAll('?', '%3F').replaceAll('#', '%23'))
}

/** A link of the old service, and the one that an import made of it. */
type LinkPair = { readonly oldLink: URL; readonly link: URL }

export type VerifiedPair = LinkPair & {
  readonly verdict: 'same' | 'different' | 'unknown'
  /** A sentence; '' for links that are the same. */
  readonly reason: string
  readonly before: LinkAnswer
  readonly now: LinkAnswer
}

type Ask = (link: URL) => Promise<LinkAnswer>

/** Compares pair after pair, in their order. Some are asked for at once, so that slow answers do not add up. */
async function* verifyLinks(
  pairs: AsyncIterable<LinkPair>,
  options: {
    readonly askOld: Ask
    readonly askTerse: Ask
    readonly atOnce: number
  },
): AsyncGenerator<VerifiedPair, void, void> {
  const { askOld, askTerse, atOnce } = options
  const verify = async (pair: LinkPair): Promise<VerifiedPair> => {
    const [before, now] = await Promise.all([askOld(pair.oldLink), askTerse(pair.link)])
    return { reason: '', ...pair, before, now, ...compareAnswers(before, now) }
  }
  const asked: Promise<VerifiedPair>[] = []
  for await (const pair of pairs) {
    const verifying = verify(pair)
    // Its failure is reported when its turn comes.
    verifying.catch(() => {})
    asked.push(verifying)
    const [first] = asked
    if (asked.length < atOnce || first === undefined) continue
    yield await first
    asked.shift()
  }
  for (const verifying of asked) yield await verifying
}
