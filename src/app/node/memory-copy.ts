import type { Logger } from 'pino'
import type { ServiceHost } from '../../hosts/service-host.ts'
import type { MemoryCopy } from '../../platform/cache/memory-copy.ts'
import type { ChangeFollower, EarlierPlace } from '../../platform/changes/change-follower.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Config } from '../config/read-config.ts'
import type { DataFolder } from './data-folder.ts'

const SAVE_INTERVAL_MS = 1_000
/** Between two parts of what does not fit into one. */
const SAVE_PAUSE_MS = 50

type CopyConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'linkCopy' | 'roles'>

/** Whether this node keeps what it has at hand on disk too, and so may start while the database is away. */
export function keepsCopy({ databaseUrl, linkCopy, roles }: CopyConfig): boolean {
  return databaseUrl !== undefined && linkCopy && roles.includes('redirect')
}

/** This process's copy; undefined where it is to have none. */
export async function openCopy(config: CopyConfig): Promise<MemoryCopy | undefined> {
  const { databaseUrl, dataDir } = config
  if (databaseUrl === undefined || !keepsCopy(config)) return undefined
  const { openMemoryCopy } = await import('./memory-copy-file.ts')
  return openMemoryCopy({ dataDir, databaseUrl })
}

/** Where the process was in the change log that left this copy. */
export function placeOf(copy: MemoryCopy | undefined, clock: Clock): EarlierPlace | undefined {
  if (copy?.state === undefined) return undefined
  const { cursor, readAtMicros } = copy.state
  return { cursor, lagMs: Math.max(0, (clock.nowMicros() - readAtMicros) / 1_000) }
}

/**
 * Keeps the copy as the memory is, about a second behind; while the data folder cannot be written, as it
 * was: what is left of a full disk is for clicks.
 */
export function startCopying(parts: {
  copy: MemoryCopy
  dataFolder: Pick<DataFolder, 'fault'>
  follower: ChangeFollower
  serviceHost: ServiceHost
  clock: Clock
  log: Logger
}): { stop(): void } {
  const { copy, dataFolder, follower, serviceHost, clock, log } = parts
  let isFailing = false

  /** True while there is more to save. */
  function save(): boolean {
    if (dataFolder.fault !== undefined) return false
    const cursor = follower.placeForLater()
    if (cursor === undefined) return false
    try {
      const isMore = copy.save({
        cursor,
        readAtMicros: clock.nowMicros() - Math.round(follower.lagMs() * 1_000),
        serviceHost: serviceHost.host,
        serviceKeyspaceId: serviceHost.keyspaceId,
      })
      isFailing = false
      return isMore
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'the copy of what is at hand cannot be kept')
      isFailing = true
      return false
    }
  }

  let timer: NodeJS.Timeout
  function saveSoon(delayMs: number): void {
    timer = setTimeout(() => saveSoon(save() ? SAVE_PAUSE_MS : SAVE_INTERVAL_MS), delayMs)
    timer.unref()
  }
  saveSoon(SAVE_INTERVAL_MS)
  return {
    stop() {
      clearTimeout(timer)
      while (save());
      copy.close()
    },
  }
}
