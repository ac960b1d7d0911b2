import type { Logger } from 'pino'
import { type Authenticator, authenticator } from '../../identity/tokens/authenticator.ts'
import type { WarmStart } from '../../platform/cache/warm-start.ts'
import { type ChangeFollower, changeFollower } from '../../platform/changes/change-follower.ts'
import type { ChangeListener } from '../../platform/changes/change-listener.ts'
import { type LinkFinder, linkFinder } from '../../redirects/find-link.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from '../instance/instance.ts'
import { placeOf } from './warm-start.ts'

/** Between two readings of the change log, where nothing tells of news. */
const CHANGE_POLL_INTERVAL_MS = 250

/** What this process keeps in memory, and what keeps it coherent with every process's changes. */
export type Memory = {
  readonly finder: LinkFinder
  readonly authenticator: Authenticator
  readonly follower: ChangeFollower
  /** Fills the caches with what an earlier process kept, and follows the changes since. */
  start(): Promise<void>
}

/** What else of a node's memory is kept coherent. */
export type FurtherMemory = {
  readonly listeners: readonly ChangeListener[]
  /** Fills the caches with what an earlier process kept. Call it before the first request. */
  restore(): void
}

/**
 * @param parts.warmStart keeps what is cached for a later process
 * @param parts.https undefined where this node has no HTTPS
 */
export function openMemory(
  config: Pick<Config, 'cacheBytesMax' | 'staleMsMax'>,
  instance: Pick<Instance, 'store' | 'clock' | 'quotas'>,
  log: Logger,
  { warmStart, https }: { warmStart: WarmStart; https: FurtherMemory | undefined },
): Memory {
  const { store, clock } = instance
  const finder = linkFinder({
    directory: store.read.directory,
    bytesMax: config.cacheBytesMax,
    warmStart,
  })
  const tokenAuthenticator = authenticator({
    store,
    clock,
    onError: (error) => log.warn({ err: error }, 'the last use of a token could not be noted'),
  })
  const listeners = [finder, tokenAuthenticator, instance.quotas, ...(https?.listeners ?? [])]
  for (const listener of listeners) store.onChange((changes) => listener.apply(changes))
  const follower = changeFollower({
    log: store.read.changes,
    listeners,
    intervalMs: CHANGE_POLL_INTERVAL_MS,
    staleMsMax: config.staleMsMax,
    onError: (error) => log.warn({ err: error }, 'the change log cannot be read'),
  })
  store.onRemoteChange(follower.wake)

  function restore(): void {
    finder.restore()
    if (https !== undefined) https.restore()
    // Their changes are not followed here.
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

  return { finder, authenticator: tokenAuthenticator, follower, start }
}

/** Drops those of an earlier process that had HTTPS. */
function dropCertificates(warmStart: WarmStart): void {
  const certificates = warmStart.values('certificate')
  for (const { name } of certificates.entries()) certificates.drop(name)
}
