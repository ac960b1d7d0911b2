import type { Config } from '../config/read-config.ts'
import type { Role } from '../config/setting-schemas.ts'
import type { Store } from '../domain/store.ts'
import { glance } from '../lib/glance.ts'
import { Readiness, type RoleCheck } from '../lib/readiness.ts'
import type { LinkFinder } from '../redirect/find-link.ts'

/** Balancers give up after a second or so, and ask every few. */
const STORE_PATIENCE_MS = 800
const STORE_KEEP_MS = 500

/** Whether the store answers. While it is known to be away it is not asked. */
export function storeCheck(store: Store): () => Promise<boolean> {
  const look = glance({
    look: async () => {
      await store.read.instance.find('key_check')
      return true
    },
    keepMs: STORE_KEEP_MS,
    patienceMs: STORE_PATIENCE_MS,
  })
  return async () => store.isAvailable() && ((await look()) ?? false)
}

/** What a node must have at hand for each of its roles. */
export function nodeReadiness(parts: {
  roles: Config['roles']
  isStoreThere: () => Promise<boolean>
  finder: LinkFinder
  onProbed: (() => void) | undefined
}): Readiness {
  const { roles, isStoreThere, finder } = parts
  const readiness = new Readiness(parts.onProbed)
  const checks: Record<Role, RoleCheck> = {
    // With links in memory most visitors are sent on whether the store is there or not.
    redirect: () => finder.uses.links.entries > 0 || isStoreThere(),
    api: isStoreThere,
    jobs: isStoreThere,
  }
  for (const role of roles) readiness.add(role, checks[role])
  return readiness
}
