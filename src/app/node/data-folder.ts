import type { Logger } from 'pino'
import { DiskReserve } from '../../platform/disk/disk-reserve.ts'
import { type DiskSpace, readDiskSpace } from '../../platform/disk/disk-space.ts'
import {
  type FolderFault,
  folderFaultOf,
  folderFaultText,
  probeFolder,
} from '../../platform/disk/folder.ts'
import { Failure, isUnavailable } from '../../platform/failure.ts'
import { type MetricSource, plain } from '../../platform/metrics/metric.ts'
import type { Job } from '../../platform/work/polling-job.ts'
import { sqliteFolderFault } from '../../storage/sqlite/errors.ts'
import { type Instance, servicesOver } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import type { FullStore } from '../database/stores.ts'

const MIB = 1024 * 1024
const FIRST_DELAY_MS = 2_000
const INTERVAL_MS = 5_000
/** While nothing can be written. */
const FAULT_INTERVAL_MS = 1_000
/** After a write that failed for another reason than a full disk; many may fail at once. */
const FAILURE_DELAY_MS = 100
/** After a reserve could not be created, for example because a quota allows less than the disk has. */
const RESERVE_RETRY_MS = 30_000
/** By how much the free part must pass the watermark before the warning ends. */
const LOW_HYSTERESIS = 1.1

type Parts = {
  readonly config: Pick<Config, 'dataDir' | 'diskLowRatio'>
  readonly log: Logger
  readonly instance?: Pick<Instance, 'findReplacedFile'>
}

/**
 * Watches whether the data folder can be written, whether the databases that are open are still in it, and how much room
 * its disk has. Keeps a reserve there that is released when the disk is full.
 */
export class DataFolder implements Job {
  readonly path: string
  readonly #lowRatio: number
  readonly #log: Logger
  readonly #reserve: DiskReserve
  readonly #findReplacedFile: () => string | undefined
  #replacedFile: string | undefined
  readonly #listeners: ((fault: FolderFault | undefined) => void)[] = []
  #fault: FolderFault | undefined
  #room: DiskSpace | undefined
  #reserveBytes = 0
  #isLow = false
  #retryReserveAtMs = 0
  #isStopped = false
  #fullCount = 0
  #timer: NodeJS.Timeout | undefined
  #dueMs = 0
  #checking: Promise<void> | undefined

  constructor({ config, log, instance }: Parts) {
    this.#findReplacedFile = () => instance?.findReplacedFile()
    this.path = config.dataDir
    this.#lowRatio = config.diskLowRatio
    this.#log = log
    this.#reserve = new DiskReserve(config.dataDir)
  }

  /** Why nothing can be written; undefined while it can. */
  get fault(): FolderFault | undefined {
    return this.#fault
  }

  /** The fault as a sentence for people. */
  get faultText(): string | undefined {
    return this.#fault && folderFaultText(this.#fault, this.path)
  }

  /** Calls `listener` with each change of `fault`, and at once while there is one. */
  onFault(listener: (fault: FolderFault | undefined) => void): void {
    this.#listeners.push(listener)
    if (this.#fault !== undefined) listener(this.#fault)
  }

  /** The disk's room at the last check; undefined before the first. */
  get room(): DiskSpace | undefined {
    return this.#room
  }

  /** Whether less of the disk is free than `diskLowRatio`. */
  get isLow(): boolean {
    return this.#isLow
  }

  get reserveBytes(): number {
    return this.#reserveBytes
  }

  /**
   * Starts to watch; until then the folder counts as writable unless a failure was noted.
   *
   * @param options.firstDelayMs 2 s when left out, because the start of the service comes first
   */
  start({ firstDelayMs = FIRST_DELAY_MS }: { firstDelayMs?: number } = {}): void {
    this.#schedule(firstDelayMs)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#checking
  }

  /**
   * Notes that a write to the folder failed; ignores errors that are not about the folder.
   *
   * @returns whether the write may work now, because the reserve was given up
   */
  noteFailure(error: unknown): boolean {
    const cause = error instanceof Error && isUnavailable(error) ? error.cause : error
    const fault = folderFaultOf(cause) ?? sqliteFolderFault(cause)
    if (fault === undefined) return false
    if (fault !== 'full') {
      // A single file may be at fault: the next check finds out.
      this.#schedule(FAILURE_DELAY_MS)
      return false
    }
    this.#fullCount += 1
    this.#reserve.release()
    this.#setFault(fault, cause)
    this.#schedule(FAULT_INTERVAL_MS)
    return true
  }

  #schedule(delayMs: number): void {
    const dueMs = performance.now() + delayMs
    const isDueBefore = this.#timer !== undefined && this.#dueMs <= dueMs
    if (this.#isStopped || isDueBefore) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#checking ??= this.#check()
    }, delayMs)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    const fullCount = this.#fullCount
    try {
      const fault = await this.#probe()
      // A write that found the disk full in the meantime is more recent.
      if (fullCount === this.#fullCount) this.#setFault(fault)
    } catch (error) {
      this.#log.warn({ err: error, folder: this.path }, 'data folder check failed')
    }
    this.#checking = undefined
    this.#schedule(this.#fault === undefined ? INTERVAL_MS : FAULT_INTERVAL_MS)
  }

  async #probe(): Promise<FolderFault | undefined> {
    const probed = await probeFolder(this.path)
    if (probed === 'missing') return probed
    this.#replacedFile = this.#findReplacedFile()
    if (this.#replacedFile !== undefined) return 'replaced'
    const room = await readDiskSpace(this.path)
    this.#noteRoom(room)
    const fault = room.isOutOfFiles ? 'full' : probed
    if (fault === 'full') this.#reserve.release()
    const bytes = await this.#reserve.bytes()
    this.#reserveBytes = bytes ?? 0
    if (fault !== undefined || this.#reserveBytes >= room.reserveBytes) return fault
    const isMade = await this.#makeReserve(room)
    // Only the journal may use the space of a released reserve, until there is room for a new reserve.
    return !isMade && bytes === 0 ? 'full' : undefined
  }

  async #makeReserve({ freeBytes, reserveBytes, reserveNeedsBytes }: DiskSpace): Promise<boolean> {
    if (freeBytes < reserveNeedsBytes || performance.now() < this.#retryReserveAtMs) return false
    try {
      await this.#reserve.removeLeftovers()
      await this.#reserve.create(reserveBytes)
      this.#reserveBytes = (await this.#reserve.bytes()) ?? 0
      return this.#reserveBytes > 0
    } catch (error) {
      this.#retryReserveAtMs = performance.now() + RESERVE_RETRY_MS
      this.#log.warn({ err: error, folder: this.path }, 'disk reserve creation failed')
      return false
    }
  }

  #noteRoom(room: DiskSpace): void {
    this.#room = room
    const mark = this.#lowRatio * (this.#isLow ? LOW_HYSTERESIS : 1)
    const isLow = room.freeRatio < mark
    if (isLow === this.#isLow) return
    this.#isLow = isLow
    const freeMiB = Math.floor(room.freeBytes / MIB)
    const freePercent = Math.floor(room.freeRatio * 1_000) / 10
    const fields = { folder: this.path, freeMiB, freePercent }
    if (isLow) this.#log.warn(fields, 'disk almost full')
    else this.#log.info(fields, 'disk has room again')
  }

  #setFault(fault: FolderFault | undefined, cause?: unknown): void {
    if (fault === this.#fault) return
    this.#fault = fault
    const folder = this.path
    if (fault === undefined) this.#log.info({ folder }, 'data folder writable again')
    else {
      const file = fault === 'replaced' ? this.#replacedFile : undefined
      this.#log.error({ folder, fault, file, err: cause }, 'data folder not writable')
    }
    for (const listener of this.#listeners) listener(fault)
  }
}

/**
 * Releases the disk reserve when the disk is full, so that a service can start on it and redirect. Does
 * nothing in a folder that has no reserve.
 */
export async function makeRoomToStart(dataDir: string): Promise<void> {
  const reserve = new DiskReserve(dataDir)
  try {
    if ((await reserve.bytes()) && (await probeFolder(dataDir)) === 'full') reserve.release()
  } catch {
    // The start itself reports faults of the folder.
  }
}

export function dataFolderMetrics(folder: DataFolder): MetricSource {
  return () => {
    const gauge = (name: string, help: string, value: number | undefined) =>
      plain('gauge', name, help, value)
    return [
      gauge(
        'terse_data_folder_writable',
        'Whether the data folder can be written.',
        folder.fault === undefined ? 1 : 0,
      ),
      gauge(
        'terse_data_disk_free_bytes',
        'Free bytes on the disk of the data folder.',
        folder.room?.freeBytes,
      ),
      gauge(
        'terse_data_disk_low',
        'Whether less than TERSE_DISK_LOW_PERCENT of that disk is free.',
        folder.room && (folder.isLow ? 1 : 0),
      ),
      gauge(
        'terse_disk_reserve_bytes',
        'Bytes of the disk reserve, released for clicks when that disk is full.',
        folder.room && folder.reserveBytes,
      ),
    ]
  }
}

/**
 * With SQLite, returns an instance whose store refuses writes while the data folder cannot be written, so
 * that the space that the disk reserve has freed is left for clicks, and that reports failed writes to
 * `folder`. With PostgreSQL, returns the instance unchanged: this machine's disk does not matter to it.
 */
export function guardInstance(config: Config, instance: Instance, folder: DataFolder): Instance {
  if (config.databaseUrl !== undefined) return instance
  const store = guardStore(instance.store, folder)
  return { ...instance, ...servicesOver(store, config, instance.clock, instance.instanceKey) }
}

function guardStore(store: FullStore, folder: DataFolder): FullStore {
  return {
    ...store,
    async write(work) {
      const { fault, faultText } = folder
      if (fault !== undefined) {
        const kind = `data_folder_${fault}` as const
        throw Failure.unavailable(new Error(fault), { kind, message: faultText })
      }
      try {
        return await store.write(work)
      } catch (error) {
        folder.noteFailure(error)
        throw error
      }
    },
  }
}
