import { linkSubject } from '../domain/changes/change.ts'
import type { ChangeListener } from '../domain/changes/change-listener.ts'
import type { LinkDirectory, LinkHost } from '../domain/links/link-directory.ts'
import { type CacheUse, CoherentCache } from '../lib/coherent-cache.ts'
import { groupBytes, type LinkGroup, loadGroup } from './prepared-link.ts'

const HOSTS_MAX = 50_000

/** Finds hosts and links for redirects, from memory where it can. */
export type LinkFinder = ChangeListener & {
  /** Undefined for a host that is unknown or pending. */
  findHost(host: string): LinkHost | undefined | Promise<LinkHost | undefined>
  findGroup(
    keyspaceId: number,
    foldedKey: string,
  ): LinkGroup | undefined | Promise<LinkGroup | undefined>
  readonly uses: { readonly hosts: CacheUse; readonly links: CacheUse }
}

/** @param options.bytesMax of memory for links */
export function linkFinder(options: { directory: LinkDirectory; bytesMax: number }): LinkFinder {
  const { directory } = options
  const hosts = new CoherentCache<LinkHost>({
    sizeMax: HOSTS_MAX,
    sizeOf: () => 1,
    load: (host) => directory.findActiveHost(host),
  })
  const groups = new CoherentCache<LinkGroup>({
    sizeMax: options.bytesMax,
    sizeOf: groupBytes,
    load(subject) {
      const slash = subject.indexOf('/')
      return loadGroup(directory, Number(subject.slice(0, slash)), subject.slice(slash + 1))
    },
  })
  return {
    get uses() {
      return { hosts: hosts.use, links: groups.use }
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
    },
    forgetAbsences() {
      hosts.forgetAbsences()
      groups.forgetAbsences()
    },
  }
}
