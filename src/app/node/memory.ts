import type { Logger } from 'pino'
import { type Authenticator, authenticator } from '../../identity/tokens/authenticator.ts'
import type { MemoryCopy } from '../../platform/cache/memory-copy.ts'
import { type ChangeFollower, changeFollower } from '../../platform/changes/change-follower.ts'
import type { ChangeListener } from '../../platform/changes/change-listener.ts'
import { type LinkFinder, linkFinder } from '../../redirects/find-link.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from '../instance/instance.ts'
import { placeOf } from './memory-copy.ts'

/** Between two readings of the change log, where nothing tells of news. */
const CHANGE_POLL_INTERVAL_MS = 250

/** What this process keeps in memory, and what keeps it coherent with every process's changes. */
export type Memory = {
  readonly finder: LinkFinder
  readonly authenticator: Authenticator
  readonly follower: ChangeFollower
  /** Begins with what the copy holds, if there is one, and follows what is changed from then on. */
  start(): Promise<void>
}

/** What else of a node's memory is kept coherent. */
export type FurtherMemory = {
  readonly listeners: readonly ChangeListener[]
  /** Begins with what the copy holds, before anything is asked for. */
  restore(): void
}

/**
 * @param parts.copy mirrors what is in memory, for a process that begins with it
 * @param parts.https undefined where this node has no HTTPS
 */
export function openMemory(
  config: Pick<Config, 'cacheBytesMax' | 'staleMsMax'>,
  instance: Pick<Instance, 'store' | 'clock' | 'quotas'>,
  log: Logger,
  { copy, https }: { copy: MemoryCopy | undefined; https: FurtherMemory | undefined },
): Memory {
  const { store, clock } = instance
  const finder = linkFinder({
    directory: store.read.directory,
    bytesMax: config.cacheBytesMax,
    copy,
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
  store.onNews(follower.wake)

  function restore(): void {
    finder.restore()
    if (https !== undefined) https.restore()
    // Nobody here follows what becomes of them.
    else if (copy !== undefined) dropCertificates(copy)
  }

  async function start(): Promise<void> {
    try {
      restore()
    } catch (error) {
      log.warn({ err: error }, 'the copy of what was at hand cannot be read, and is begun anew')
      for (const listener of listeners) listener.forgetAll()
    }
    await follower.start(placeOf(copy, clock))
  }

  return { finder, authenticator: tokenAuthenticator, follower, start }
}

/** Takes out those of a process that had HTTPS. */
function dropCertificates(copy: MemoryCopy): void {
  for (const { name } of copy.entries('certificate')) copy.set('certificate', name, undefined)
}
