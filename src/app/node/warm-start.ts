import type { Logger } from 'pino'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { COLD_START, type WarmStart } from '../../platform/cache/coherent-cache.ts'
import type { ChangeFollower, EarlierPosition } from '../../platform/changes/changes.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Config } from '../config/read-config.ts'
import type { DataFolder } from './data-folder.ts'
import type { Job } from './polling-job.ts'

const SAVE_INTERVAL_MS = 1_000
/** Between two writes of values that are too many for one. */
const SAVE_PAUSE_MS = 50

type WarmStartConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'linkCopy' | 'roles'>

/** Whether this node keeps its caches on disk, and so can start while the database is down. */
export function keepsCaches({ databaseUrl, linkCopy, roles }: WarmStartConfig): boolean {
  return databaseUrl !== undefined && linkCopy && roles.includes('redirect')
}

export type OpenedWarmStart = {
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
export function placeOf({ state }: WarmStart, clock: Clock): EarlierPosition | undefined {
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
