import { staleCache } from '../../platform/cache/stale-cache.ts'
import { within } from '../../platform/http/api/deadline.ts'
import { Readiness, type RoleCheck } from '../../platform/process/readiness.ts'
import type { LinkFinder } from '../../redirects/find-link.ts'
import type { Config } from '../config/read-config.ts'
import type { Role } from '../config/setting-schemas.ts'
import type { FullStore } from '../database/stores.ts'

/** Balancers give up after a second or so, and ask every few. */
const STORE_PATIENCE_MS = 800
const STORE_KEEP_MS = 500
/** One write in this time, of each process whose readiness is asked. */
const WRITE_KEEP_MS = 5_000

/** Whether the store answers. While it is known to be away it is not asked. */
export function storeCheck(store: FullStore): () => Promise<boolean> {
  const read = staleCache({
    load: async () => {
      await store.read.instance.find('key_check')
      return true
    },
    ageMsMax: STORE_KEEP_MS,
    waitMsMax: STORE_PATIENCE_MS,
  })
  return async () => store.isAvailable() && ((await read()) ?? false)
}

/**
 * Whether writes work: the disk may be full, the database read-only, or so slow or distant that the API
 * answers each write with 503. Tries one every few seconds while it is asked.
 *
 * @param limitMs for how long a write of the API may take
 */
export function writeCheck(store: FullStore, limitMs: number): () => Promise<boolean> {
  const read = staleCache({
    load: async () => {
      await within(
        store.write((stores) => stores.instance.tryWrite()),
        limitMs,
      )
      return true
    },
    ageMsMax: WRITE_KEEP_MS,
    waitMsMax: STORE_PATIENCE_MS,
  })
  return async () => (await read()) ?? false
}

/** What a node must have at hand for each of its roles. */
export function nodeReadiness(parts: {
  roles: Config['roles']
  isStoreThere: () => Promise<boolean>
  canWrite: () => Promise<boolean>
  /** Whether what is written to the store can be kept; undefined where that needs nothing of this machine. */
  canStore: (() => boolean) | undefined
  finder: LinkFinder
  onProbed: (() => void) | undefined
}): Readiness {
  const { roles, isStoreThere, canWrite, canStore = () => true, finder } = parts
  const readiness = new Readiness(parts.onProbed)
  const isStoreWhole = async () => canStore() && (await isStoreThere()) && (await canWrite())
  const checks: Record<Role, RoleCheck> = {
    // With links in memory most visitors are sent on whether the store is there or not.
    redirect: () => finder.uses.links.entries > 0 || isStoreThere(),
    api: isStoreWhole,
    jobs: isStoreWhole,
  }
  for (const role of roles) readiness.add(role, checks[role])
  return readiness
}
