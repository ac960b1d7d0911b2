import type { Logger } from 'pino'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { SessionCache } from '../../identity/sign-in/sessions.ts'
import { type Authenticator, authenticator } from '../../identity/tokens.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Job } from '../../platform/work/polling-job.ts'
import { LinkFinder } from '../../redirects/find-link.ts'
import {
  type ChangeFollower,
  type ChangeListener,
  changeFollower,
  type EarlierPosition,
} from '../../storage/changes.ts'
import { COLD_START, type WarmStart } from '../../storage/coherent-cache.ts'
import type { Instance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import type { DataFolder } from './data-folder.ts'

/** How often the change log is read when the store notifies of no change. */
const CHANGE_POLL_INTERVAL_MS = 250

/** The caches of this node, and the follower of the change log that keeps them coherent. */
export type NodeCaches = {
  readonly finder: LinkFinder
  readonly authenticator: Authenticator
  readonly sessionCache: SessionCache
  readonly follower: ChangeFollower
  /** Tells one more part of this node of changes. */
  add(listener: ChangeListener): void
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
  const finder = new LinkFinder({
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
  const listeners: ChangeListener[] = [
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

  function add(listener: ChangeListener): void {
    listeners.push(listener)
    store.onChange((changes) => listener.apply(changes))
  }

  return { finder, authenticator: tokenAuthenticator, sessionCache, follower, add, start }
}

/** Drops the certificates that an earlier process with HTTPS kept. */
function dropCertificates(warmStart: WarmStart): void {
  const certificates = warmStart.values('certificate')
  for (const { name } of certificates.entries()) certificates.drop(name)
}

const SAVE_INTERVAL_MS = 1_000
/** Between two writes of values that are too many for one. */
const SAVE_PAUSE_MS = 50

type WarmStartConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'linkCopy' | 'roles'>

/** Whether this node keeps its caches on disk, and so can start while the database is down. */
export function keepsCaches({ databaseUrl, linkCopy, roles }: WarmStartConfig): boolean {
  return databaseUrl !== undefined && linkCopy && roles.includes('redirect')
}

type OpenedWarmStart = {
  readonly values: WarmStart
  /**
   * Saves what was kept, about a second behind. While the data folder cannot be written, nothing is
   * saved: the rest of a full disk is for clicks. `stop` saves what is left.
   */
  startSaving(parts: SavingParts): Job
}

type SavingParts = {
  readonly dataFolder: Pick<DataFolder, 'fault'>
  readonly follower: ChangeFollower
  readonly serviceHost: ServiceHost
  readonly clock: Clock
  readonly log: Logger
}

export async function openWarmStart(config: WarmStartConfig): Promise<OpenedWarmStart> {
  const { databaseUrl, dataDir } = config
  if (databaseUrl === undefined || !keepsCaches(config)) {
    return { values: COLD_START, startSaving: () => ({ stop: async () => {} }) }
  }
  const { WarmStartFile } = await import('./warm-start-file.ts')
  const file = WarmStartFile.open({ dataDir, databaseUrl })
  return { values: file, startSaving: (parts) => new WarmStartSaving(file, parts) }
}

/** Returns the place in the change log up to which the kept values are complete. */
function placeOf({ state }: WarmStart, clock: Clock): EarlierPosition | undefined {
  if (state === undefined) return undefined
  const { cursor, readAtMicros } = state
  return { cursor, lagMs: Math.max(0, (clock.nowMicros() - readAtMicros) / 1_000) }
}

type SavedFile = {
  save(state: NonNullable<WarmStart['state']>): boolean
  close(): void
}

class WarmStartSaving implements Job {
  readonly #file: SavedFile
  readonly #parts: SavingParts
  #timer: NodeJS.Timeout | undefined
  #isFailing = false

  constructor(file: SavedFile, parts: SavingParts) {
    this.#file = file
    this.#parts = parts
    this.#saveIn(SAVE_INTERVAL_MS)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    while (this.#save());
    this.#file.close()
  }

  #saveIn(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#saveIn(this.#save() ? SAVE_PAUSE_MS : SAVE_INTERVAL_MS)
    }, delayMs).unref()
  }

  /** Returns whether there is more to save. */
  #save(): boolean {
    const { dataFolder, follower, serviceHost, clock, log } = this.#parts
    if (dataFolder.fault !== undefined) return false
    const cursor = follower.positionForLater()
    if (cursor === undefined) return false
    try {
      const isMore = this.#file.save({
        cursor,
        readAtMicros: clock.nowMicros() - Math.round(follower.lagMs() * 1_000),
        serviceHost: serviceHost.host,
        serviceKeyspaceId: serviceHost.keyspaceId,
      })
      this.#isFailing = false
      return isMore
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error }, 'saving the caches for a warm start failed')
      this.#isFailing = true
      return false
    }
  }
}
