import { foldKey, type LinkDirectory, type LinkHost } from '../links/index.ts'
import { type ChangeListener, linkSubject, pathsSubject } from '../storage/changes.ts'
import {
  ANSWER_AGE_MS_MAX,
  type CacheUse,
  COLD_START,
  CoherentCache,
  type KeptValues,
  type WarmStart,
} from '../storage/coherent-cache.ts'
import { LabelSettings } from './find-labels.ts'
import { RuleSetFinder } from './find-rule-sets.ts'
import { HostDocuments } from './host-documents.ts'
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
  type PreparedLink,
} from './prepared-link.ts'

const HOSTS_MAX = 50_000
/** Memory for the keys of links that take more of a path than their key, in bytes. */
const PATHS_BYTES_MAX = 16 * 1024 * 1024
/** First character of the cache names of variants; a change's subject starts with a digit. */
const VARIANT_MARK = '='

/** A link, and how it was found by a part of a path. */
export type LinkOnPath = { readonly link: PreparedLink; readonly path: PathMatch }

/** Finds hosts and links for redirects, in its caches or in the store. */
export type LinkFinder = ChangeListener & {
  /** Fills the caches with what an earlier process kept. Call it before the first visit. */
  restore(): void
  /** Undefined for a host that is unknown or pending. */
  findHost(host: string): LinkHost | undefined | Promise<LinkHost | undefined>
  /**
   * Returns what is known of a host without waiting: undefined for one that is unknown or pending, null for one that is
   * looked up first, for later calls.
   */
  peekHost(host: string): LinkHost | undefined | null
  /** Another number after each change of a host. */
  readonly hostsVersion: number
  /** Finds the link of exactly this key, else the only one whose key differs by letter case. */
  findLink(
    keyspaceId: number,
    key: string,
  ): PreparedLink | undefined | Promise<PreparedLink | undefined>
  /**
   * Finds the link that takes the longest part of a path; call it for a path that is no link's whole key.
   *
   * @param path as sent
   */
  findByPath(
    keyspaceId: number,
    path: string,
  ): LinkOnPath | undefined | Promise<LinkOnPath | undefined>
  /** As `LabelSettings.parameterOf`. */
  readonly findLabelParameter: LabelSettings['parameterOf']
  /** As `RuleSetFinder.find`. */
  readonly findRuleSets: RuleSetFinder['find']
  /** As `HostDocuments.find`. */
  readonly findFile: HostDocuments['find']
  readonly uses: {
    readonly hosts: CacheUse
    readonly links: CacheUse
    readonly rule_sets: CacheUse
  }
}

/** What answers a visit; the rest keeps it coherent. */
export type VisitFinder = Omit<LinkFinder, 'restore' | 'uses' | keyof ChangeListener>

/**
 * @param options.bytesMax of memory for links
 * @param options.warmStart keeps what is cached for a later process
 */
export function linkFinder(options: {
  directory: LinkDirectory
  bytesMax: number
  warmStart?: WarmStart | undefined
}): LinkFinder {
  const { directory, warmStart = COLD_START } = options
  const keptHosts = warmStart.values('host')
  const keptLinks = warmStart.values('link')
  let hostsVersion = 0
  const hosts = new CoherentCache<LinkHost>({
    sizeMax: HOSTS_MAX,
    sizeOf: () => 1,
    load: (host) => directory.findActiveHost(host),
    mirror: {
      keep: (name, host) => keptHosts.keep(name, () => JSON.stringify(host)),
      drop: keptHosts.drop,
    },
  })
  const labels = new LabelSettings(directory, warmStart)
  const links = new CoherentCache<LinkEntry>({
    sizeMax: options.bytesMax,
    sizeOf: entryBytes,
    async load(name) {
      const entry = await loadEntry(directory, name)
      // So that it is there in an outage as well.
      if (entry !== undefined && !isVariants(entry)) await labels.parameterOf(entry.workspaceId)
      return entry
    },
    mirror: {
      keep: (name, entry) => keptLinks.keep(name, () => encodeEntry(entry)),
      drop: keptLinks.drop,
    },
  })

  const ruleSets = new RuleSetFinder(directory, warmStart)
  const documents = new HostDocuments(directory)

  const findLink = linkLookUp(links)
  const paths = linksByPath(directory, findLink, warmStart.values('paths'))
  return {
    get uses() {
      return { hosts: hosts.use, links: links.use, rule_sets: ruleSets.use }
    },
    restore() {
      for (const { name, value } of keptHosts.entries()) hosts.restore(name, JSON.parse(value))
      for (const { name, value } of keptLinks.entries()) links.restore(name, decodeEntry(value))
      paths.restore()
      ruleSets.restore()
      labels.restore()
    },
    findHost: (host) => hosts.get(host),
    peekHost(host) {
      const known = hosts.peek(host)
      if (known === null) Promise.resolve(hosts.get(host)).catch(() => {})
      return known
    },
    get hostsVersion() {
      return hostsVersion
    },
    findLink,
    findByPath: paths.find,
    findLabelParameter: (workspaceId) => labels.parameterOf(workspaceId),
    findRuleSets: (ofLink, ofHost) => ruleSets.find(ofLink, ofHost),
    findFile: (host, name, path) => documents.find(host, name, path),
    apply(changes) {
      for (const { kind, subject } of changes) {
        if (kind === 'host') {
          hostsVersion += 1
          hosts.renew(subject)
        } else if (kind === 'link') {
          // No key ends with a slash.
          const cache = subject.endsWith('/') ? paths.cache : links
          cache.renew(subject)
        }
      }
      ruleSets.apply(changes)
      documents.apply(changes)
      labels.apply(changes)
    },
    forgetAll() {
      hostsVersion += 1
      for (const cache of [hosts, links, paths.cache, ruleSets, labels, documents])
        cache.forgetAll()
      warmStart.clear()
    },
    forgetAbsences() {
      for (const cache of [hosts, links, paths.cache, ruleSets, documents]) cache.forgetAbsences()
    },
  }
}

/** Returns how to find the link of exactly a key, else the only one whose key differs by letter case. */
function linkLookUp(links: CoherentCache<LinkEntry>): LinkFinder['findLink'] {
  function findLink(
    keyspaceId: number,
    key: string,
  ): PreparedLink | undefined | Promise<PreparedLink | undefined> {
    const entry = links.get(linkSubject(keyspaceId, foldKey(key)))
    return entry instanceof Promise
      ? entry.then((loaded) => linkIn(loaded, keyspaceId, key))
      : linkIn(entry, keyspaceId, key)
  }

  function linkIn(
    entry: LinkEntry | undefined,
    keyspaceId: number,
    key: string,
  ): PreparedLink | undefined | Promise<PreparedLink | undefined> {
    if (entry === undefined || !isVariants(entry)) return entry
    const variant = links.get(variantName(entry.variantsId, keyspaceId, key))
    return variant instanceof Promise
      ? linkOfVariant(variant, entry, keyspaceId, key)
      : onlyLink(variant)
  }

  async function linkOfVariant(
    loading: Promise<LinkEntry | undefined>,
    entry: LinkVariants,
    keyspaceId: number,
    key: string,
  ): Promise<PreparedLink | undefined> {
    const startedMs = performance.now()
    const variant = await loading
    // As the cache does: a read that took long is repeated when a change has overtaken it.
    const isOld = performance.now() - startedMs > ANSWER_AGE_MS_MAX
    return isOld && !links.holds(linkSubject(keyspaceId, foldKey(key)), entry)
      ? findLink(keyspaceId, key)
      : onlyLink(variant)
  }

  return findLink
}

/** Finds links that take more of a path than their key. */
function linksByPath(directory: LinkDirectory, findLink: LinkFinder['findLink'], kept: KeptValues) {
  const cache = new CoherentCache<PathIndex>({
    sizeMax: PATHS_BYTES_MAX,
    sizeOf: pathIndexBytes,
    async load(subject) {
      const keys = await directory.findPathKeys(Number.parseInt(subject, 10), INDEXED_KEYS_MAX)
      return keys.length === 0 ? undefined : indexPaths(keys)
    },
    mirror: {
      keep: (name, { keys }) => kept.keep(name, () => JSON.stringify(keys)),
      drop: kept.drop,
    },
  })

  function linkOnPath(
    index: PathIndex | undefined,
    keyspaceId: number,
    path: string,
  ): LinkOnPath | undefined | Promise<LinkOnPath | undefined> {
    const match = index && matchPath(index, path)
    if (match === undefined) return undefined
    const onPath = (link: PreparedLink | undefined) =>
      // The index may be older than the link.
      link === undefined || link.path === 'none' ? undefined : { link, path: match }
    const link = findLink(keyspaceId, match.key)
    return link instanceof Promise ? link.then(onPath) : onPath(link)
  }

  return {
    cache,
    find(keyspaceId: number, path: string) {
      const index = cache.get(pathsSubject(keyspaceId))
      return index instanceof Promise
        ? index.then((loaded) => linkOnPath(loaded, keyspaceId, path))
        : linkOnPath(index, keyspaceId, path)
    },
    restore() {
      for (const { name, value } of kept.entries()) {
        cache.restore(name, indexPaths(JSON.parse(value)))
      }
    },
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
