import { linkSubject } from '../domain/changes/change.ts'
import type { ChangeListener } from '../domain/changes/change-listener.ts'
import type { LinkDirectory, LinkHost } from '../domain/links/link-directory.ts'
import type { MemoryCopy } from '../domain/nodes/memory-copy.ts'
import { type CacheUse, CoherentCache } from '../lib/coherent-cache.ts'
import { decodeGroup, encodeGroup, groupBytes, type LinkGroup, loadGroup } from './prepared-link.ts'

const HOSTS_MAX = 50_000

/** Finds hosts and links for redirects, from memory where it can. */
export type LinkFinder = ChangeListener & {
  /** Begins with what the copy holds, before anything is asked for. */
  restore(): void
  /** Undefined for a host that is unknown or pending. */
  findHost(host: string): LinkHost | undefined | Promise<LinkHost | undefined>
  findGroup(
    keyspaceId: number,
    foldedKey: string,
  ): LinkGroup | undefined | Promise<LinkGroup | undefined>
  readonly uses: { readonly hosts: CacheUse; readonly links: CacheUse }
}

/**
 * @param options.bytesMax of memory for links
 * @param options.copy mirrors what is in memory, for a process that begins with it
 */
export function linkFinder(options: {
  directory: LinkDirectory
  bytesMax: number
  copy?: MemoryCopy | undefined
}): LinkFinder {
  const { directory, copy } = options
  const hosts = new CoherentCache<LinkHost>({
    sizeMax: HOSTS_MAX,
    sizeOf: () => 1,
    load: (host) => directory.findActiveHost(host),
    mirror: copy && {
      keep: (name, host) => copy.set('host', name, JSON.stringify(host)),
      drop: (name) => copy.set('host', name, undefined),
    },
  })
  const groups = new CoherentCache<LinkGroup>({
    sizeMax: options.bytesMax,
    sizeOf: groupBytes,
    load(subject) {
      const slash = subject.indexOf('/')
      return loadGroup(directory, Number(subject.slice(0, slash)), subject.slice(slash + 1))
    },
    mirror: copy && {
      keep: (name, group) => copy.set('link', name, encodeGroup(group)),
      drop: (name) => copy.set('link', name, undefined),
    },
  })
  return {
    get uses() {
      return { hosts: hosts.use, links: groups.use }
    },
    restore() {
      for (const { name, value } of copy?.entries('host') ?? []) {
        hosts.restore(name, JSON.parse(value))
      }
      for (const { name, value } of copy?.entries('link') ?? []) {
        groups.restore(name, decodeGroup(value))
      }
    },
    findHost: (host) => hosts.get(host),
    findGroup: (keyspaceId, foldedKey) => groups.get(linkSubject(keyspaceId, foldedKey)),
    apply(changes) {
      for (const { kind, subject } of changes) {
        if (kind === 'host') hosts.forget(subject)
        else if (kind === 'link') groups.forget(subject)
      }
    },
    forgetAll() {
      hosts.forgetAll()
      groups.forgetAll()
      copy?.clear()
    },
    forgetAbsences() {
      hosts.forgetAbsences()
      groups.forgetAbsences()
    },
  }
}
