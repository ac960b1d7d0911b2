import type { Logger } from 'pino'
import { SessionCache } from '../../identity/sign-in/sessions.ts'
import { type Authenticator, authenticator } from '../../identity/tokens.ts'
import type { WarmStart } from '../../platform/cache/coherent-cache.ts'
import {
  type ChangeFollower,
  type ChangeListener,
  changeFollower,
} from '../../platform/changes/changes.ts'
import { type LinkFinder, linkFinder } from '../../redirects/find-link.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from '../instance/instance.ts'
import { placeOf } from './warm-start.ts'

/** How often the change log is read when the store notifies of no change. */
const CHANGE_POLL_INTERVAL_MS = 250

/** The caches of this node, and the follower of the change log that keeps them coherent. */
export type NodeCaches = {
  readonly finder: LinkFinder
  readonly authenticator: Authenticator
  readonly sessionCache: SessionCache
  readonly follower: ChangeFollower
  /** Restores the entries that an earlier process kept, and follows the changes since. */
  start(): Promise<void>
}

/** The caches of a node that serves HTTPS. */
export type HttpsCaches = {
  readonly listeners: readonly ChangeListener[]
  /** Restores the entries that an earlier process kept. Call it before the first request. */
  restore(): void
}

/**
 * @param parts.warmStart keeps what is cached for a later process
 * @param parts.https undefined when this node does not serve HTTPS
 */
export function openCaches(
  config: Pick<Config, 'cacheBytesMax' | 'staleMsMax'>,
  instance: Pick<Instance, 'store' | 'clock' | 'quotas'>,
  log: Logger,
  { warmStart, https }: { warmStart: WarmStart; https: HttpsCaches | undefined },
): NodeCaches {
  const { store, clock } = instance
  const finder = linkFinder({
    directory: store.read.directory,
    bytesMax: config.cacheBytesMax,
    warmStart,
  })
  const tokenAuthenticator = authenticator({
    store,
    clock,
    onError: (error) => log.warn({ err: error }, 'storing the last use of a token failed'),
  })
  const sessionCache = new SessionCache({
    store,
    clock,
    onError: (error) => log.warn({ err: error }, 'storing the last use of a session failed'),
  })
  const listeners = [
    finder,
    tokenAuthenticator,
    sessionCache,
    instance.quotas,
    ...(https?.listeners ?? []),
  ]
  for (const listener of listeners) store.onChange((changes) => listener.apply(changes))
  const follower = changeFollower({
    log: store.read.changes,
    listeners,
    intervalMs: CHANGE_POLL_INTERVAL_MS,
    staleMsMax: config.staleMsMax,
    onError: (error) => log.warn({ err: error }, 'change log read failed'),
  })
  store.onRemoteChange(follower.wake)

  function restore(): void {
    finder.restore()
    if (https !== undefined) https.restore()
    // This node does not follow changes of certificates.
    else dropCertificates(warmStart)
  }

  async function start(): Promise<void> {
    try {
      restore()
    } catch (error) {
      log.warn({ err: error }, 'reading the caches for a warm start failed')
      for (const listener of listeners) listener.forgetAll()
    }
    await follower.start(placeOf(warmStart, clock))
  }

  return { finder, authenticator: tokenAuthenticator, sessionCache, follower, start }
}

/** Drops the certificates that an earlier process with HTTPS kept. */
function dropCertificates(warmStart: WarmStart): void {
  const certificates = warmStart.values('certificate')
  for (const { name } of certificates.entries()) certificates.drop(name)
}
