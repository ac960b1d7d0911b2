import { hostThatCouldLoop, type ServiceName } from '../hosts/index.ts'
import type { LinkHost } from '../links/index.ts'
import { type Decision, decide, type Visit } from './decide.ts'
import type { FoundLink, VisitFinder } from './find-link.ts'
import type { PreparedLink } from './prepared-link.ts'
import type { PreparedRules } from './rules.ts'

/** Browsers follow no more redirects than these. */
const HOPS_MAX = 20

type Sent = Extract<Decision, { location: string }>

/**
 * Finds out whether a redirect would send its visitor round in circles among the links of this instance. It decides
 * at each visit, because links and domains change later than the link that leads to them.
 */
export class LoopDetector {
  readonly #service: ServiceName
  readonly #serviceHost: LinkHost | undefined
  readonly #finder: Pick<VisitFinder, 'findOn' | 'hostsVersion' | 'peekHost'>

  /** @param parts.serviceHostFor finds the service's own host, which needs no look-up */
  constructor({
    service,
    serviceHostFor,
    finder,
  }: {
    readonly service: ServiceName
    readonly serviceHostFor: (host: string) => LinkHost | undefined
    readonly finder: Pick<VisitFinder, 'findOn' | 'hostsVersion' | 'peekHost'>
  }) {
    this.#service = service
    this.#serviceHost = serviceHostFor(service.host)
    this.#finder = finder
  }

  /** Whether a visitor is sent to a host of this instance, by what is cached. */
  leadsHere({ sets }: FoundLink, sent: Sent): boolean {
    if (
      sent.kind === 'redirect' &&
      this.#linkLeadsElsewhere(sent.link) &&
      (sets.length === 0 ||
        sets.every((set) => this.#leadsElsewhere(set, destinationsOf(set.rules))))
    ) {
      return false
    }
    return this.#hostOf(sent.location) !== undefined
  }

  /**
   * Whether a visitor who is sent to a location on this instance would be sent to one place twice, or on and on. A
   * page ends the way, that of a password too.
   *
   * @param from what the visitor has requested
   * @throws {Failure} `unavailable`
   */
  async isLoop(
    from: FoundLink,
    sent: Sent,
    visitor: Pick<Visit, 'device' | 'visitorOf'>,
    nowMs: number,
  ): Promise<boolean> {
    const passed = new Set([placeOf(from)])
    let { location } = sent
    for (let hops = 0; hops < HOPS_MAX; hops += 1) {
      const host = this.#hostOf(location)
      if (host === undefined) return false
      const name = hostThatCouldLoop(location, this.#service) ?? ''
      const { pathname, search } = new URL(location)
      const query = search.slice(1)
      const found = await this.#finder.findOn(host, { host: name, path: pathname, query })
      const place = placeOf(found)
      if (passed.has(place)) return true
      passed.add(place)
      if (found.file !== undefined) return false
      const visit = { ...found, ...visitor, query, knowsPassword: false }
      const decision = decide(visit, nowMs)
      if (!('location' in decision)) return false
      location = decision.location
    }
    return true
  }

  #linkLeadsElsewhere(link: PreparedLink): boolean {
    if (link.elsewhereAt === this.#finder.hostsVersion) return true
    const { ios, android, rules } = link.traits
    const byRules = rules === null ? [] : destinationsOf(rules)
    return this.#leadsElsewhere(link, [link.url, ios, android, ...byRules])
  }

  /**
   * Whether none of the destinations of a link, or of a rule set, is on a host of this instance: nearly always known
   * from an earlier visit.
   */
  #leadsElsewhere(
    from: Pick<PreparedLink, 'elsewhereAt'>,
    destinations: Iterable<string | null>,
  ): boolean {
    const { hostsVersion } = this.#finder
    if (from.elsewhereAt === hostsVersion) return true
    for (const destination of destinations) {
      if (destination !== null && this.#peekHostOf(destination) !== undefined) return false
    }
    from.elsewhereAt = hostsVersion
    return true
  }

  #hostOf(location: string): LinkHost | undefined {
    return this.#peekHostOf(location) ?? undefined
  }

  /** Returns null where it is not known yet whether the host is one of this instance. */
  #peekHostOf(location: string): LinkHost | undefined | null {
    const name = hostThatCouldLoop(location, this.#service)
    if (name === undefined) return undefined
    return name === this.#service.host ? this.#serviceHost : this.#finder.peekHost(name)
  }
}

function* destinationsOf({ compiled }: PreparedRules): Generator<string> {
  for (const { templates } of compiled) for (const { text } of templates) yield text
}

/** Names what decides where a visitor is sent: a link, or what a host does with paths that are none. */
function placeOf({ host, link, isRoot }: FoundLink): string {
  if (link !== undefined) return `link ${link.seq}`
  return `${isRoot ? 'root' : 'host'} ${host?.keyspaceId}`
}
