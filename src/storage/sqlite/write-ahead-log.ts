import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { fileIdentity } from '../../platform/disk/file.ts'
import { folderFaultOf, folderFaultText, syncFolder } from '../../platform/disk/folder.ts'
import { Failure } from '../../platform/failure.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { TaskThread } from '../../platform/work/task-thread.ts'
import type { LogPosition, LogTask } from './log-worker.ts'

/**
 * The length of the write-ahead log, 16 MiB, at which it is checkpointed. New keys spread over the
 * whole index, so a page that many creates change is written fewer times than with SQLite's default
 * of 1,000.
 */
export const CHECKPOINT_PAGES = 4_000

const syncData = promisify(fdatasync)

type Options = {
  /** The database file. */
  readonly file: string
  /** A connection to it that is in no transaction while this class is called. */
  readonly reader: DatabaseSync
  /** Called with failures of checkpoints and with a sync that had to be repeated. */
  readonly onError: (error: unknown) => void
  /** Replaced by tests, as is `checkpointFrames`. */
  readonly sync?: (fd: number) => Promise<void>
  readonly checkpointFrames?: number
}

/**
 * The write-ahead log of a database file whose writing connection commits without a sync
 * (`synchronous=normal`). Does off the main thread what waits for the disk:
 *
 * - **Syncs**, in libuv's threads. A commit is on disk when a `sync` that began after it has settled.
 * - **Checkpoints**, in a thread of their own. The first attempt runs beside commits. What they append
 *   meanwhile is moved by a second one, for which they wait: otherwise a log that is always written to
 *   would never be empty.
 * - **The first write to an empty log.** SQLite then syncs the log's new header even with
 *   `synchronous=normal`: frames that reached the disk before it could be taken for frames of the old
 *   log. The thread writes it, right after the checkpoint; `isBegun` tells a writer whether it must wait
 *   for that.
 */
export class WriteAheadLog {
  readonly #folder: string
  readonly #fd: number
  readonly #sync: (fd: number) => Promise<void>
  readonly #onError: (error: unknown) => void
  readonly #thread: TaskThread<LogTask, LogPosition>
  readonly #findPosition: StatementSync
  readonly #checkpointFrames: number
  #position: LogPosition = { frames: 0, checkpointed: 0 }
  #isFolderSynced = false
  /** Whether a sync failed and the log may have a gap on disk. */
  #isDoubtful = false
  #checkpointing: Promise<void> | undefined
  #dueAtFrames: number
  #mustPause = false

  constructor({ file, reader, onError, sync = syncData, ...options }: Options) {
    this.#checkpointFrames = options.checkpointFrames ?? CHECKPOINT_PAGES
    this.#dueAtFrames = this.#checkpointFrames
    this.#folder = path.dirname(file)
    this.#sync = sync
    this.#onError = onError
    this.#findPosition = reader.prepare('pragma main.wal_checkpoint(noop)')
    this.#thread = new TaskThread(new URL('./log-worker.ts', import.meta.url), file)
    // Windows refuses to sync a file that is open for reading only.
    this.#fd = openSync(logFile(file), 'r+')
  }

  /**
   * Whether the next commit appends to a log that has begun. Call it while holding the write lock: a
   * log that has begun stays so until the lock is released. Notes how long the log is, for `checkpointIfLong`.
   */
  isBegun(): boolean {
    const { log, checkpointed } = this.#findPosition.get() ?? {}
    this.#position = { frames: Number(log), checkpointed: Number(checkpointed) }
    return this.#position.checkpointed < this.#position.frames
  }

  /** Begins the log unless another process just has. Fails as busy while a writer holds the lock. */
  async begin(): Promise<void> {
    await this.#thread.run('begin')
  }

  /**
   * Settles when every commit so far, of any process, is on disk.
   *
   * A failed sync is not repeated: Linux marks the pages clean, and the next sync would succeed without
   * having written them (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC
   * 2020). The whole log is compared with its checksums, written again and synced instead.
   *
   * @throws {Failure} `unavailable` when that fails too. The commits stay visible; a later `sync` may
   *   succeed for them.
   */
  async sync(): Promise<void> {
    try {
      if (!this.#isDoubtful) await this.#syncOnce()
    } catch (error) {
      this.#isDoubtful = true
      this.#onError(new Error('a sync of the write-ahead log failed', { cause: error }))
    }
    if (!this.#isDoubtful) return
    try {
      await this.#thread.run('rewrite')
      this.#isDoubtful = false
    } catch (error) {
      const fault = folderFaultOf(error) ?? 'failing'
      const message = folderFaultText(fault, this.#folder)
      throw Failure.unavailable(error, { kind: `data_folder_${fault}`, message })
    }
  }

  /** Settles when the checkpoint that runs has ended; undefined when none does. */
  get checkpointing(): Promise<void> | undefined {
    return this.#checkpointing
  }

  /** Starts a checkpoint when the log is long. Returns what the next transaction must wait for. */
  checkpointIfLong(): Promise<void> | undefined {
    const isDue = this.#position.frames >= this.#dueAtFrames || this.#mustPause
    if (!isDue || this.#isDoubtful || this.#checkpointing !== undefined) return undefined
    const mustPause = this.#mustPause
    this.#checkpointing = this.#checkpoint(mustPause ? 'checkpointAll' : 'checkpoint')
    return mustPause ? this.#checkpointing : undefined
  }

  async close(): Promise<void> {
    await this.#checkpointing
    await this.#thread.close()
    closeSync(this.#fd)
  }

  async #syncOnce(): Promise<void> {
    await this.#sync(this.#fd)
    if (this.#isFolderSynced) return
    // The log may be a new file.
    await syncFolder(this.#folder)
    this.#isFolderSynced = true
  }

  async #checkpoint(task: 'checkpoint' | 'checkpointAll'): Promise<void> {
    try {
      const { frames, checkpointed } = await this.#thread.run(task)
      const isComplete = checkpointed >= frames
      this.#mustPause = !isComplete && task === 'checkpoint'
      this.#dueAtFrames = this.#checkpointFrames + (isComplete ? 0 : frames)
    } catch (error) {
      this.#mustPause = false
      this.#dueAtFrames = this.#checkpointFrames + this.#position.frames
      this.#onError(new Error('a checkpoint of the write-ahead log failed', { cause: error }))
    }
    this.#checkpointing = undefined
  }
}

/** Returns the path of a database file's write-ahead log. */
function logFile(file: string): string {
  return `${file}-wal`
}

/**
 * Settles what other connections have committed to a database file: it is on disk when this returns. For
 * threads that may wait for the disk.
 */
export function syncLog(file: string): void {
  let fd: number
  try {
    fd = openSync(logFile(file), 'r+')
  } catch (error) {
    // Without a log, all is in the file.
    if (hasErrorCode(error, 'ENOENT')) return
    throw error
  }
  try {
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** A file was removed or replaced while it was open: what is written to it is lost when it is closed. */
class ReplacedFile extends Error {
  override readonly name = 'ReplacedFile'
  /** As of a file handle on a network whose file is gone. */
  readonly code = 'ESTALE'

  constructor(file: string) {
    super(`${file} was removed or replaced while it was open`)
  }
}

/** Database files that this process has open, to find out whether they are still those at their paths. */
export class OpenFiles {
  readonly #identities = new Map<string, string>()
  #isVerified = false

  /** @param files those that are missing are ignored */
  constructor(files: readonly string[]) {
    for (const file of files) {
      const identity = fileIdentity(file)
      if (identity !== undefined) this.#identities.set(file, identity)
    }
  }

  /** Returns the first file that was removed or replaced; undefined while there is none. */
  findReplaced(): string | undefined {
    for (const [file, identity] of this.#identities) if (isOther(file, identity)) return file
    return undefined
  }

  /** As `verify`, once in an iteration of the event loop: writes of one iteration share a commit. */
  verifyCommit(): void {
    if (this.#isVerified) return
    this.verify()
    this.#isVerified = true
    setImmediate(() => {
      this.#isVerified = false
    })
  }

  /** @throws {Failure} `unavailable` if what is written would be in a file that is not at its path any more */
  verify(): void {
    const file = this.findReplaced()
    if (file !== undefined) {
      const message = folderFaultText('replaced', path.dirname(file))
      throw Failure.unavailable(new ReplacedFile(file), { kind: 'data_folder_replaced', message })
    }
  }
}

/** False for a file that cannot be looked at: that is another fault. */
function isOther(file: string, identity: string): boolean {
  try {
    return fileIdentity(file) !== identity
  } catch {
    return false
  }
}
