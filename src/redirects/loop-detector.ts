import { hostThatCouldLoop, type ServiceName } from '../hosts/index.ts'
import { keyOfPath, type LinkHost } from '../links/index.ts'
import { type Decision, decide, type Visit } from './decide.ts'
import type { HostFile } from './exchange.ts'
import type { LinkFinder, LinkOnPath } from './find-link.ts'
import type { PathMatch } from './paths.ts'
import type { PreparedLink } from './prepared-link.ts'
import { NO_SETS, type PreparedRules, type SharedRules } from './rules.ts'

/** Browsers follow no more redirects than these. */
const HOPS_MAX = 20

/** What a request's host and path lead to. */
export type FoundLink = {
  /** Undefined for a host that is unknown or pending. */
  readonly host: LinkHost | undefined
  readonly link: PreparedLink | undefined
  /** Where the link was found by a part of the path. */
  readonly path: PathMatch | undefined
  readonly isRoot: boolean
  /** What the host serves in place of a link. */
  readonly file: HostFile | undefined
  /** Rule sets that are tried after the link's own rules, in their order. */
  readonly sets: readonly SharedRules[]
  /** The parameter that has the labels of visits to the link; null for no labels, and for a visit without a query. */
  readonly labelParameter: string | null
}

/** Where links, and what they share with others, are found. */
type Finder = Pick<
  LinkFinder,
  'findByPath' | 'findFile' | 'findLabelParameter' | 'findLink' | 'findRuleSets'
>

/** What a visitor asks for: the name of a host, a path and a query. */
type Place = { readonly host: string; readonly path: string; readonly query: string }

/**
 * Finds what a path and a query on a host lead to: at once where it is cached.
 *
 * @param host undefined for one that is unknown or pending
 */
export function findOn(
  finder: Finder,
  host: LinkHost | undefined,
  place: Place,
): FoundLink | Promise<FoundLink> {
  const { host: name, path } = place
  if (host === undefined) return nothingOn(host, path)
  const file = host.settings === null ? undefined : finder.findFile(host, name, path)
  if (file instanceof Promise) {
    return file.then((loaded) =>
      loaded === undefined
        ? findLinkOn(finder, host, place)
        : { ...nothingOn(host, path), file: loaded },
    )
  }
  return file === undefined ? findLinkOn(finder, host, place) : { ...nothingOn(host, path), file }
}

function nothingOn(host: LinkHost | undefined, path: string): FoundLink {
  const none = { link: undefined, path: undefined, file: undefined, sets: NO_SETS }
  return { host, isRoot: path === '/', ...none, labelParameter: null }
}

function findLinkOn(
  finder: Finder,
  host: LinkHost,
  place: Omit<Place, 'host'>,
): FoundLink | Promise<FoundLink> {
  const { path } = place
  if (path === '/') return nothingOn(host, path)
  const key = keyOfPath(path)
  const link = key === undefined ? undefined : finder.findLink(host.keyspaceId, key)
  return link instanceof Promise
    ? link.then((loaded) => orByPath(finder, host, place, loaded))
    : orByPath(finder, host, place, link)
}

function orByPath(
  finder: Finder,
  host: LinkHost,
  { path, query }: { readonly path: string; readonly query: string },
  link: PreparedLink | undefined,
): FoundLink | Promise<FoundLink> {
  if (link !== undefined) return withSettings(finder, { host, link, path: undefined }, query)
  const found = finder.findByPath(host.keyspaceId, path)
  const onPath = (loaded: LinkOnPath | undefined) =>
    loaded === undefined ? nothingOn(host, path) : withSettings(finder, { host, ...loaded }, query)
  return found instanceof Promise ? found.then(onPath) : onPath(found)
}

/** Adds the rule sets of a link and its host, and for a visit with a query how it gets a label. */
export function withSettings(
  finder: Pick<Finder, 'findRuleSets' | 'findLabelParameter'>,
  found: { readonly host: LinkHost; readonly link: PreparedLink; readonly path: FoundLink['path'] },
  query: string,
): FoundLink | Promise<FoundLink> {
  const { host, link, path } = found
  const sets = finder.findRuleSets(
    link.ruleSet,
    host.settings === null ? null : host.settings.ruleSet,
  )
  const labelParameter = query === '' ? null : finder.findLabelParameter(link.workspaceId)
  return sets instanceof Promise || labelParameter instanceof Promise
    ? withLoaded(found, sets, labelParameter)
    : { host, link, path, isRoot: false, file: undefined, sets, labelParameter }
}

async function withLoaded(
  found: Pick<FoundLink, 'host' | 'path' | 'link'>,
  sets: FoundLink['sets'] | Promise<FoundLink['sets']>,
  labelParameter: string | null | Promise<string | null>,
): Promise<FoundLink> {
  const [loadedSets, loadedParameter] = await Promise.all([sets, labelParameter])
  const rest = { isRoot: false, file: undefined, labelParameter: loadedParameter }
  return { ...found, ...rest, sets: loadedSets }
}

type FindOn = (host: LinkHost, place: Place) => FoundLink | Promise<FoundLink>

type Sent = Extract<Decision, { location: string }>

/**
 * Finds out whether a redirect would send its visitor round in circles among the links of this instance. It decides
 * at each visit, because links and domains change later than the link that leads to them.
 */
export class LoopDetector {
  readonly #service: ServiceName
  readonly #serviceHost: LinkHost | undefined
  readonly #finder: Pick<LinkFinder, 'hostsVersion' | 'peekHost'>
  readonly #findOn: FindOn

  constructor(parts: {
    readonly service: ServiceName
    readonly serviceHost: LinkHost | undefined
    readonly finder: Pick<LinkFinder, 'hostsVersion' | 'peekHost'>
    readonly findOn: FindOn
  }) {
    this.#service = parts.service
    this.#serviceHost = parts.serviceHost
    this.#finder = parts.finder
    this.#findOn = parts.findOn
  }

  /** Whether a visitor is sent to a host of this instance, by what is cached. */
  leadsHere({ sets }: FoundLink, sent: Sent): boolean {
    if (
      sent.kind === 'redirect' &&
      this.#linkLeadsElsewhere(sent.link) &&
      sets.every((set) => this.#leadsElsewhere(set, destinationsOf(set.rules)))
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
      const found = await this.#findOn(host, { host: name, path: pathname, query })
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
    const byRules = link.rules === null ? [] : destinationsOf(link.rules)
    return this.#leadsElsewhere(link, [link.url, link.ios, link.android, ...byRules])
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
