import { isPrivateAddress, type ServiceHost } from '../../hosts/index.ts'
import { keyOfPath } from '../../links/index.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import { closeAgents, guardedAgents } from '../../platform/network/outgoing-request.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ImportRowStore } from '../store/import-row-store.ts'
import type { ImportStore } from '../store/import-store.ts'
import { importedPairs, type OldService } from './imported-pairs.ts'
import { LinkAsker } from './link-asker.ts'
import { ourAnswer, type VerifyStores } from './our-answers.ts'
import { type VerifiedPair, verifyLinks } from './verify-links.ts'

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

/** Compares what visitors of imported links get from the old service and from Terse. */
export class LinkVerification {
  readonly #store: Pick<Store<Stores>, 'read'>
  readonly #serviceHost: ServiceHost
  readonly #clock: Clock

  constructor(options: {
    store: Pick<Store<Stores>, 'read'>
    serviceHost: ServiceHost
    clock: Clock
  }) {
    this.#store = options.store
    this.#serviceHost = options.serviceHost
    this.#clock = options.clock
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
      yield* verifyLinks(importedPairs(this.#store.read.importRows, importId, options), {
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
    const nowMs = Math.floor(this.#clock.nowMicros() / 1_000)
    const deps = { store: this.#store, serviceHost: this.#serviceHost, nowMs }
    return ourAnswer(deps, workspaceId, { host, key: keyOfPath(pathname) ?? '' })
  }

  async #getImportId(workspaceId: string, id: string | undefined): Promise<string> {
    const { imports } = this.#store.read
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
