import {
  foldKey,
  keyOfPath,
  type LinkDirectory,
  type LinkHost,
  type VisitSettings,
} from '../links/index.ts'
import { isUnavailable } from '../platform/failure.ts'
import { type Change, type ChangeListener, linkSubject, pathsSubject } from '../storage/changes.ts'
import {
  ANSWER_AGE_MS_MAX,
  type CacheUse,
  COLD_START,
  CoherentCache,
  type WarmStart,
} from '../storage/coherent-cache.ts'
import type { HostFile } from './exchange.ts'
import {
  type DocumentFile,
  documentName,
  documentNames,
  fileAt,
  loadDocument,
} from './host-documents.ts'
import {
  INDEXED_KEYS_MAX,
  indexPaths,
  matchPath,
  type PathIndex,
  type PathMatch,
  pathIndexBytes,
} from './paths.ts'
import {
  decodeEntry,
  encodeEntry,
  entryBytes,
  isVariants,
  type LinkEntry,
  type LinkVariants,
  loadByFoldedKey,
  loadByKey,
  loadRuleSet,
  type PreparedLink,
} from './prepared-link.ts'
import { NO_SETS, type SharedRules, shareRules } from './rules.ts'

const HOSTS_MAX = 50_000
/** Workspaces whose settings for visits are cached. */
const WORKSPACES_MAX = 50_000
/** Memory for the keys of links that take more of a path than their key, in bytes. */
const PATHS_BYTES_MAX = 16 * 1024 * 1024
/** Memory for rule sets, in bytes, beside that for links. */
const RULE_SETS_BYTES_MAX = 32 * 1024 * 1024
/** Memory for documents, which one program requests now and then, in bytes. */
const DOCUMENTS_BYTES_MAX = 16 * 1024 * 1024
/** First character of the cache names of variants; a change's subject starts with a digit. */
const VARIANT_MARK = '='

const AS_JSON = { encode: JSON.stringify, decode: JSON.parse }

/** A link, and how it was found by a part of a path. */
type LinkOnPath = { readonly link: PreparedLink; readonly path: PathMatch }

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
  /** The parameter of destinations that has the token of a visit to the link; null for no token. */
  readonly tokenParameter: string | null
}

/** What a visitor requests: the name of a host, a path as sent, and a query. */
type Place = { readonly host: string; readonly path: string; readonly query: string }

/** What answers a visit; the rest keeps it coherent. */
export type VisitFinder = Pick<
  LinkFinder,
  'findHost' | 'findLabelParameter' | 'findOn' | 'hostsVersion' | 'peekHost' | 'withSettings'
>

/**
 * Finds hosts, links and what links share for redirects: in its caches, without a promise, or in the store. Links hold the
 * subject of a rule set alone, so that its change reaches them without being written to them.
 */
export class LinkFinder implements ChangeListener {
  readonly #warmStart: WarmStart
  readonly #hosts: CoherentCache<LinkHost>
  readonly #links: CoherentCache<LinkEntry>
  readonly #paths: CoherentCache<PathIndex>
  /** By their subjects in the change log. */
  readonly #ruleSets: CoherentCache<SharedRules>
  /** By workspace. */
  readonly #visitSettings: CoherentCache<VisitSettings>
  readonly #documents: CoherentCache<DocumentFile>
  #hostsVersion = 0

  /**
   * @param options.bytesMax of memory for links
   * @param options.warmStart keeps what is cached for a later process
   */
  constructor(options: {
    directory: LinkDirectory
    bytesMax: number
    warmStart?: WarmStart | undefined
  }) {
    const { directory, warmStart = COLD_START } = options
    this.#warmStart = warmStart
    this.#hosts = new CoherentCache({
      sizeMax: HOSTS_MAX,
      sizeOf: () => 1,
      load: (host) => directory.findActiveHost(host),
      kept: { values: warmStart.values('host'), ...AS_JSON },
    })
    this.#links = new CoherentCache({
      sizeMax: options.bytesMax,
      sizeOf: entryBytes,
      load: async (name) => {
        const entry = await loadEntry(directory, name)
        // So that it is there in an outage as well.
        if (entry !== undefined && !isVariants(entry)) {
          await loadedSettings(this.#visitSettings.get(entry.workspaceId))
        }
        return entry
      },
      kept: { values: warmStart.values('link'), encode: encodeEntry, decode: decodeEntry },
    })
    this.#paths = new CoherentCache({
      sizeMax: PATHS_BYTES_MAX,
      sizeOf: pathIndexBytes,
      async load(subject) {
        const keys = await directory.findPathKeys(Number.parseInt(subject, 10), INDEXED_KEYS_MAX)
        return keys.length === 0 ? undefined : indexPaths(keys)
      },
      kept: {
        values: warmStart.values('paths'),
        encode: ({ keys }) => JSON.stringify(keys),
        decode: (text) => indexPaths(JSON.parse(text)),
      },
    })
    this.#ruleSets = new CoherentCache({
      sizeMax: RULE_SETS_BYTES_MAX,
      sizeOf: ({ rules }) => rules.bytes,
      load: (subject) => loadRuleSet(directory, subject),
      kept: {
        values: warmStart.values('rule-set'),
        encode: ({ rules }) => JSON.stringify(rules.source),
        decode: (text) => shareRules(JSON.parse(text)),
      },
    })
    this.#visitSettings = new CoherentCache({
      sizeMax: WORKSPACES_MAX,
      sizeOf: () => 1,
      load: (workspaceId) => directory.findVisitSettings(workspaceId),
      kept: { values: warmStart.values('visit-settings'), ...AS_JSON },
    })
    this.#documents = new CoherentCache({
      sizeMax: DOCUMENTS_BYTES_MAX,
      sizeOf: ({ bytes }) => bytes,
      load: (name) => loadDocument(directory, name),
    })
  }

  get uses(): Readonly<Record<'hosts' | 'links' | 'rule_sets', CacheUse>> {
    return { hosts: this.#hosts.use, links: this.#links.use, rule_sets: this.#ruleSets.use }
  }

  /** Another number after each change of a host. */
  get hostsVersion(): number {
    return this.#hostsVersion
  }

  /** Fills the caches with what an earlier process kept. Call it before the first visit. */
  restore(): void {
    for (const cache of this.#caches()) cache.restore()
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      switch (kind) {
        case 'host':
          this.#hostsVersion += 1
          this.#hosts.renew(subject)
          for (const name of documentNames(subject)) this.#documents.renew(name)
          break
        case 'link': {
          // No key ends with a slash.
          const cache = subject.endsWith('/') ? this.#paths : this.#links
          cache.renew(subject)
          break
        }
        case 'rule-set':
          this.#ruleSets.renew(subject)
          break
        case 'label':
          this.#visitSettings.renew(subject)
          break
      }
    }
  }

  forgetAll(): void {
    this.#hostsVersion += 1
    for (const cache of this.#caches()) cache.forgetAll()
    this.#warmStart.clear()
  }

  forgetAbsences(): void {
    for (const cache of this.#caches()) cache.forgetAbsences()
  }

  #caches() {
    return [
      ...[this.#hosts, this.#links, this.#paths],
      ...[this.#ruleSets, this.#visitSettings, this.#documents],
    ]
  }

  /** Undefined for a host that is unknown or pending. */
  findHost(host: string): LinkHost | undefined | Promise<LinkHost | undefined> {
    return this.#hosts.get(host)
  }

  /**
   * Returns what is known of a host without waiting: undefined for one that is unknown or pending, null for one that is
   * looked up first, for later calls.
   */
  peekHost(host: string): LinkHost | undefined | null {
    const known = this.#hosts.peek(host)
    if (known === null) Promise.resolve(this.#hosts.get(host)).catch(() => {})
    return known
  }

  /**
   * Finds what a path and a query on a host lead to: at once where it is cached.
   *
   * @param host undefined for one that is unknown or pending
   */
  findOn(host: LinkHost | undefined, place: Place): FoundLink | Promise<FoundLink> {
    const { host: name, path } = place
    if (host === undefined) return nothingOn(host, path)
    const file = host.settings === null ? undefined : this.#findFile(host.settings, name, path)
    if (file === undefined) return this.#findLinkOn(host, place)
    if (!(file instanceof Promise)) return { ...nothingOn(host, path), file }
    return file.then((loaded) =>
      loaded === undefined
        ? this.#findLinkOn(host, place)
        : { ...nothingOn(host, path), file: loaded },
    )
  }

  #findFile(
    settings: NonNullable<LinkHost['settings']>,
    name: string,
    path: string,
  ): HostFile | undefined | Promise<HostFile | undefined> {
    const file = fileAt(settings, path)
    return typeof file === 'string' ? this.#documents.get(documentName(file, name)) : file
  }

  #findLinkOn(
    host: LinkHost,
    { path, query }: Omit<Place, 'host'>,
  ): FoundLink | Promise<FoundLink> {
    if (path === '/') return nothingOn(host, path)
    const key = keyOfPath(path)
    const link = key === undefined ? undefined : this.findLink(host.keyspaceId, key)
    return link instanceof Promise
      ? link.then((loaded) => this.#orByPath(host, path, query, loaded))
      : this.#orByPath(host, path, query, link)
  }

  #orByPath(
    host: LinkHost,
    path: string,
    query: string,
    link: PreparedLink | undefined,
  ): FoundLink | Promise<FoundLink> {
    if (link !== undefined) return this.withSettings({ host, link, path: undefined }, query)
    const found = this.#findByPath(host.keyspaceId, path)
    const onPath = (loaded: LinkOnPath | undefined) =>
      loaded === undefined ? nothingOn(host, path) : this.withSettings({ host, ...loaded }, query)
    return found instanceof Promise ? found.then(onPath) : onPath(found)
  }

  /** Adds the rule sets of a link and its host, how a visit with a query gets a label, and whether a destination gets a token. */
  withSettings(found: OnHost, query: string): FoundLink | Promise<FoundLink> {
    const { host, link, path } = found
    const sets = this.#findRuleSets(
      link.traits.ruleSet,
      host.settings === null ? null : host.settings.ruleSet,
    )
    const settings = this.#visitSettings.get(link.workspaceId)
    return sets instanceof Promise || settings instanceof Promise
      ? withLoaded(found, query, sets, settings)
      : {
          ...{ host, link, path, isRoot: false, file: undefined, sets },
          labelParameter: query === '' ? null : (settings?.labelParameter ?? null),
          tokenParameter: tokenParameterOf(link, host, settings),
        }
  }

  /** Returns the sets of a link and of its host, in this order, those that exist. Each may be none. */
  #findRuleSets(
    ofLink: string | null,
    ofHost: string | null,
  ): readonly SharedRules[] | Promise<readonly SharedRules[]> {
    if (ofLink === null && ofHost === null) return NO_SETS
    const first = ofLink === null ? undefined : this.#ruleSets.get(ofLink)
    const second = ofHost === null || ofHost === ofLink ? undefined : this.#ruleSets.get(ofHost)
    if (first instanceof Promise || second instanceof Promise) {
      return Promise.all([first, second]).then(existing)
    }
    return existing([first, second])
  }

  /**
   * Returns the parameter of queries that has the labels of visits to a workspace's links; null for no labels.
   */
  async findLabelParameter(workspaceId: string): Promise<string | null> {
    return (await loadedSettings(this.#visitSettings.get(workspaceId)))?.labelParameter ?? null
  }

  /** Finds the link of exactly this key, else the only one whose key differs by letter case. */
  findLink(
    keyspaceId: number,
    key: string,
  ): PreparedLink | undefined | Promise<PreparedLink | undefined> {
    const entry = this.#links.get(linkSubject(keyspaceId, foldKey(key)))
    return entry instanceof Promise
      ? entry.then((loaded) => this.#linkIn(loaded, keyspaceId, key))
      : this.#linkIn(entry, keyspaceId, key)
  }

  #linkIn(
    entry: LinkEntry | undefined,
    keyspaceId: number,
    key: string,
  ): PreparedLink | undefined | Promise<PreparedLink | undefined> {
    if (entry === undefined || !isVariants(entry)) return entry
    const variant = this.#links.get(variantName(entry.variantsId, keyspaceId, key))
    return variant instanceof Promise
      ? this.#linkOfVariant(variant, entry, keyspaceId, key)
      : onlyLink(variant)
  }

  async #linkOfVariant(
    loading: Promise<LinkEntry | undefined>,
    entry: LinkVariants,
    keyspaceId: number,
    key: string,
  ): Promise<PreparedLink | undefined> {
    const startedMs = performance.now()
    const variant = await loading
    // As the cache does: a read that took long is repeated when a change has overtaken it.
    const isOld = performance.now() - startedMs > ANSWER_AGE_MS_MAX
    return isOld && !this.#links.holds(linkSubject(keyspaceId, foldKey(key)), entry)
      ? this.findLink(keyspaceId, key)
      : onlyLink(variant)
  }

  /** Finds the link that takes the longest part of a path that is no link's whole key. */
  #findByPath(
    keyspaceId: number,
    path: string,
  ): LinkOnPath | undefined | Promise<LinkOnPath | undefined> {
    const index = this.#paths.get(pathsSubject(keyspaceId))
    return index instanceof Promise
      ? index.then((loaded) => this.#linkOnPath(loaded, keyspaceId, path))
      : this.#linkOnPath(index, keyspaceId, path)
  }

  #linkOnPath(
    index: PathIndex | undefined,
    keyspaceId: number,
    path: string,
  ): LinkOnPath | undefined | Promise<LinkOnPath | undefined> {
    const match = index && matchPath(index, path)
    if (match === undefined) return undefined
    const onPath = (link: PreparedLink | undefined) =>
      // The index may be older than the link.
      link === undefined || link.traits.path === 'none' ? undefined : { link, path: match }
    const link = this.findLink(keyspaceId, match.key)
    return link instanceof Promise ? link.then(onPath) : onPath(link)
  }
}

function nothingOn(host: LinkHost | undefined, path: string): FoundLink {
  const none = { link: undefined, path: undefined, file: undefined, sets: NO_SETS }
  return { host, isRoot: path === '/', ...none, labelParameter: null, tokenParameter: null }
}

type OnHost = {
  readonly host: LinkHost
  readonly link: PreparedLink
  readonly path: FoundLink['path']
}

type Loading<T> = T | Promise<T>

async function withLoaded(
  found: OnHost,
  query: string,
  loadingSets: Loading<FoundLink['sets']>,
  loadingSettings: Loading<VisitSettings | undefined>,
): Promise<FoundLink> {
  const [sets, settings] = await Promise.all([loadingSets, loadedSettings(loadingSettings)])
  return {
    ...{ ...found, isRoot: false, file: undefined, sets },
    labelParameter: query === '' ? null : (settings?.labelParameter ?? null),
    tokenParameter: tokenParameterOf(found.link, found.host, settings),
  }
}

/** The link decides, else its host, else its workspace. */
function tokenParameterOf(
  link: PreparedLink,
  host: LinkHost,
  settings: VisitSettings | undefined,
): string | null {
  if (settings === undefined) return null
  const { settings: ofHost } = host
  const tracks =
    link.traits.tracksConversions ??
    (ofHost === null ? null : ofHost.tracksConversions) ??
    settings.tracksConversions
  return tracks ? settings.tokenParameter : null
}

function existing(sets: readonly (SharedRules | undefined)[]): readonly SharedRules[] {
  return sets.filter((set) => set !== undefined)
}

/** In an outage, visits to a workspace whose settings are not cached have no label and no token. */
async function loadedSettings(
  loading: Loading<VisitSettings | undefined>,
): Promise<VisitSettings | undefined> {
  try {
    return await loading
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return undefined
  }
}

/** Returns the link of a variant's entry, which holds at most one. */
function onlyLink(entry: LinkEntry | undefined): PreparedLink | undefined {
  return entry === undefined || isVariants(entry) ? undefined : entry
}

/**
 * Returns the cache name of one of several links whose keys differ only by letter case. A change of any
 * of them removes the entry of their folded key. The next entry has another `variantsId`, so names with
 * the earlier one are never used again.
 */
function variantName(variantsId: string, keyspaceId: number, key: string): string {
  return `${VARIANT_MARK}${variantsId}/${keyspaceId}/${key}`
}

/** @param name a change's subject, or a variant's name */
function loadEntry(directory: LinkDirectory, name: string): Promise<LinkEntry | undefined> {
  const isVariant = name.startsWith(VARIANT_MARK)
  const subject = isVariant ? name.slice(name.indexOf('/') + 1) : name
  const slash = subject.indexOf('/')
  const keyspaceId = Number(subject.slice(0, slash))
  const key = subject.slice(slash + 1)
  return isVariant
    ? loadByKey(directory, keyspaceId, key)
    : loadByFoldedKey(directory, keyspaceId, key)
}
