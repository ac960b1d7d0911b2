import { staleCache } from '../../platform/cache/stale-cache.ts'
import { within } from '../../platform/http/api/request-timing.ts'
import { Readiness, type RoleCheck } from '../../platform/process/readiness.ts'
import type { LinkFinder } from '../../redirects/find-link.ts'
import type { Config } from '../config/read-config.ts'
import type { Role } from '../config/setting-schemas.ts'
import type { FullStore } from '../database/stores.ts'

/** Balancers give up after about a second, and probe every few seconds. */
const STORE_PATIENCE_MS = 800
const STORE_KEEP_MS = 500
/** Each process whose readiness is requested tries one write in this time. */
const WRITE_KEEP_MS = 5_000

/** Returns a check whether the store answers. A store known to be unavailable is not queried. */
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
 * Returns a check whether writes work: the disk may be full, the database read-only, or so slow or distant
 * that the API answers each write with 503. Tries a write every few seconds while it is called.
 *
 * @param limitMs how long a write of the API may take
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

/** Builds the readiness checks of a node, one for each of its roles. */
export function nodeReadiness(parts: {
  roles: Config['roles']
  isStoreAvailable: () => Promise<boolean>
  canWrite: () => Promise<boolean>
  /** Whether this machine can store writes; undefined when the store is on another machine. */
  canStore: (() => boolean) | undefined
  finder: LinkFinder
  onProbed: (() => void) | undefined
}): Readiness {
  const { roles, isStoreAvailable, canWrite, canStore = () => true, finder } = parts
  const readiness = new Readiness(parts.onProbed)
  const isStoreWritable = async () => canStore() && (await isStoreAvailable()) && (await canWrite())
  const checks: Record<Role, RoleCheck> = {
    // With cached links, most visitors are redirected even while the store is unavailable.
    redirect: () => finder.uses.links.entries > 0 || isStoreAvailable(),
    api: isStoreWritable,
    jobs: isStoreWritable,
  }
  for (const role of roles) readiness.add(role, checks[role])
  return readiness
}
