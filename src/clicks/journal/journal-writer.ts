import {
  closeSync,
  fdatasync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { copyBytes, fileIdentity } from '../../platform/disk/file.ts'
import { syncFolder } from '../../platform/disk/folder.ts'
import type { Click, ClickRecorder } from '../click.ts'
import { listSegments, SEGMENT_BYTES_MAX, segmentFile } from './journal-folder.ts'
import { FrameBuilder } from './record.ts'

/** See `ClickRecorder.record`. */
type Done = (isStored: boolean) => void

/** The files, folders and waiting visits of one round of syncs. */
type Round = {
  readonly files: ReadonlySet<number>
  readonly folders: ReadonlySet<string>
  readonly callbacks: readonly Done[]
  readonly clicks: number
}

/**
 * Group commit for the journal. One round of syncs runs at a time, off the event loop; visits that arrive
 * during a round share the next one. The slower the disk, the more visits share a sync.
 *
 * A failed round is never retried. Linux marks the pages clean after a failed sync, so the next sync would
 * succeed without having written them (Rebello et al., "Can Applications Recover from fsync Failures?",
 * USENIX ATC 2020). The clicks of a failed round, and those written since it began, are doubtful, and the
 * writer continues in another file.
 */
class GroupSync {
  readonly #operations: JournalFiles
  readonly #onFailed: (clicks: number, error: unknown) => void
  #files = new Set<number>()
  #folders = new Set<string>()
  #retired = new Set<number>()
  #callbacks: Done[] = []
  #clicks = 0
  #busy = false
  #running: Promise<void> = Promise.resolve()

  /** @param onFailed called with the number of doubtful clicks before their visits are answered */
  constructor(files: JournalFiles, onFailed: (clicks: number, error: unknown) => void) {
    this.#operations = files
    this.#onFailed = onFailed
  }

  /** Records that clicks were written to a file. */
  written(fd: number, clicks: number): void {
    this.#files.add(fd)
    this.#clicks += clicks
  }

  /** Records that a folder is new or has a new file. */
  changed(folder: string): void {
    this.#folders.add(folder)
  }

  /** Calls each of `callbacks` once everything recorded so far is on disk or reported as doubtful. */
  wait(callbacks: readonly Done[]): void {
    for (const done of callbacks) this.#callbacks.push(done)
    if (this.#busy) return
    this.#busy = true
    this.#running = this.#run()
  }

  /** Closes a completely written file as soon as it needs no further sync. */
  retire(fd: number): void {
    this.#retired.add(fd)
    if (!this.#busy) this.#closeRetired()
  }

  /** Resolves when no callback is waiting. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#callbacks.length > 0) {
      const round = this.#takeRound()
      let callbacks = round.callbacks
      try {
        for (const fd of round.files) await this.#operations.sync(fd)
        for (const folder of round.folders) await this.#operations.syncFolder(folder)
      } catch (error) {
        for (const folder of round.folders) this.#folders.add(folder)
        const since = this.#takeRound()
        for (const folder of since.folders) this.#folders.add(folder)
        callbacks = [...round.callbacks, ...since.callbacks]
        this.#onFailed(round.clicks + since.clicks, error)
      }
      for (const done of callbacks) done(true)
      this.#closeRetired()
    }
    this.#busy = false
  }

  #takeRound(): Round {
    const round = {
      files: this.#files,
      folders: this.#folders,
      callbacks: this.#callbacks,
      clicks: this.#clicks,
    }
    this.#files = new Set()
    this.#folders = new Set()
    this.#callbacks = []
    this.#clicks = 0
    return round
  }

  #closeRetired(): void {
    for (const fd of this.#retired) {
      if (this.#files.has(fd)) continue
      this.#retired.delete(fd)
      closeQuietly(this.#operations, fd)
    }
  }
}

const syncData = promisify(fdatasync)

/** The file operations of `JournalWriter`; tests pass operations that fail. */
export type JournalFiles = {
  open(file: string): number
  /** Returns the bytes written, which may be fewer than requested, as with the system call. */
  write(fd: number, bytes: Buffer, offset: number, position: number): number
  truncate(fd: number, size: number): void
  close(fd: number): void
  /** See `fileIdentity`. */
  identity(file: string | number): string | undefined
  /**
   * Copies the first bytes of an open file, also of a removed one, to a path in one step, and opens the copy. What is at
   * the path is replaced.
   */
  restore(fd: number, bytes: number, file: string): number
  /** Resolves when the contents of the file are on disk. */
  sync(fd: number): Promise<void>
  /** Resolves when the folder's directory entries are on disk. */
  syncFolder(folder: string): Promise<void>
}

export const systemFiles: JournalFiles = {
  // Readable, so that a file that was removed can be restored.
  open: (file) => openSync(file, 'wx+', 0o600),
  write: (fd, bytes, offset, position) =>
    writeSync(fd, bytes, offset, bytes.length - offset, position),
  truncate: ftruncateSync,
  close: closeSync,
  identity: fileIdentity,
  restore(fd, bytes, file) {
    const temporary = `${file}.restored`
    rmSync(temporary, { force: true })
    try {
      copyBytes(fd, bytes, temporary)
      renameSync(temporary, file)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
    return openSync(file, 'r+')
  },
  sync: (fd) => syncData(fd),
  syncFolder,
}

/** Closes a file to which nothing is written any more, and ignores failures. */
function closeQuietly(files: JournalFiles, fd: number): void {
  try {
    files.close(fd)
  } catch {
    // The data is in the kernel already; only the file handle is lost.
  }
}

/** What an answered click survives: a crash of the process, or a power failure as well. */
export type ClickDurability = 'process' | 'disk'

type Options = {
  readonly folder: string
  readonly durability: ClickDurability
  readonly files?: JournalFiles
  /** Creates the journal's folder unless this process holds it already; called again after a failure. */
  readonly createFolder: () => void
  /** Called after a failed write; returns whether a retry may succeed. */
  readonly freeSpace?: ((error: unknown) => boolean) | undefined
  /** Called after each write. */
  readonly onWritten: () => void
  readonly onLost: (count: number, error: unknown) => void
  /** Called when clicks can be written again after `onLost`. */
  readonly onRecovered?: () => void
  /** Called when the active segment was removed or replaced, and its clicks were saved. */
  readonly onRestored?: (bytes: number) => void
  readonly onDoubt: (count: number, error: unknown) => void
}

/**
 * Appends clicks to a node's journal, with one write per iteration of the event loop for all visits of that
 * iteration. `done` is called when the write has reached the kernel, where it survives a crash of the
 * process; with `disk`, when a sync has written it to the disk.
 *
 * A failed write is truncated, so that a partial frame is never read, and retried once if `freeSpace`
 * returns true. If the retry fails too, the clicks are lost, counted and reported, and `done` is called with false. Clicks
 * whose sync failed are doubtful: they count unless the machine stops, and `done` is called with true.
 */
export class JournalWriter implements ClickRecorder {
  /**
   * Clicks since the start. `recorded` ones were written, `lost` ones could not be. `doubtful` ones were written, but would be
   * lost if the machine stopped, because a sync failed.
   */
  readonly counts = { recorded: 0, lost: 0, doubtful: 0 }
  readonly #options: Options
  readonly #files: JournalFiles
  /** Undefined when clicks need not survive a power failure. */
  readonly #syncs: GroupSync | undefined
  readonly #frame = new FrameBuilder()
  #segment: number
  #fd: number | undefined
  #size = 0
  #callbacks: Done[] = []
  /** The index in `#callbacks` of the first click of the frame. */
  #frameFrom = 0
  #scheduled = false
  #fault: unknown

  constructor(options: Options) {
    this.#options = options
    this.#files = options.files ?? systemFiles
    // Always a new segment: the last one may end with a torn frame, and nothing may follow that.
    this.#segment = (listSegments(options.folder).at(-1) ?? 0) + 1
    if (options.durability === 'process') return
    this.#syncs = new GroupSync(this.#files, (count, error) => this.#markDoubtful(count, error))
  }

  /** The active segment; segments with lower numbers are complete. */
  get segment(): number {
    return this.#segment
  }

  /** Why clicks cannot be written, as of the last attempt; undefined while they can. */
  get fault(): unknown {
    return this.#fault
  }

  /**
   * Creates the journal's folder if that is missing, and restores the active segment if that was removed or replaced: the
   * open file still has its clicks. A failure is reported like that of a write, of no clicks.
   */
  check(): void {
    try {
      this.#options.createFolder()
      this.#restoreSegment()
    } catch (error) {
      this.#fail(0, error)
    }
  }

  /** Ends a fault of which something else has found out that it is over. */
  recover(): void {
    if (this.#fault === undefined) return
    this.#fault = undefined
    this.#options.onRecovered?.()
  }

  record(click: Click, done: Done): void {
    if (this.#frame.isFull) this.#append()
    this.#frame.add(click)
    this.#callbacks.push(done)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.flush())
  }

  /** Writes the waiting clicks. */
  flush(): void {
    this.#scheduled = false
    const callbacks = this.#callbacks
    if (callbacks.length === 0) return
    this.#append()
    this.#callbacks = []
    this.#frameFrom = 0
    if (this.#syncs === undefined) for (const done of callbacks) done(true)
    else this.#syncs.wait(callbacks)
    this.#options.onWritten()
  }

  /** Writes the waiting clicks immediately. Resolves when all syncs have finished. */
  async close(): Promise<void> {
    this.flush()
    await this.#syncs?.idle()
    this.#closeSegment()
  }

  #append(): void {
    const count = this.#frame.count
    const bytes = this.#frame.finish()
    try {
      this.#writeWithRetry(bytes, count)
      this.counts.recorded += count
      this.recover()
    } catch (error) {
      this.#answerAsLost()
      this.#fail(count, error)
    }
    this.#frameFrom = this.#callbacks.length
  }

  #answerAsLost(): void {
    for (let index = this.#frameFrom; index < this.#callbacks.length; index += 1) {
      const done = this.#callbacks[index]
      this.#callbacks[index] = () => done?.(false)
    }
  }

  #fail(count: number, error: unknown): void {
    this.#fault = error
    this.counts.lost += count
    this.#options.onLost(count, error)
  }

  #writeWithRetry(bytes: Buffer, count: number): void {
    try {
      this.#write(bytes, count)
    } catch (error) {
      if (!this.#options.freeSpace?.(error)) throw error
      this.#write(bytes, count)
    }
  }

  /** Writes a whole frame, or removes the written part and throws. */
  #write(bytes: Buffer, count: number): void {
    try {
      if (this.#size > SEGMENT_BYTES_MAX) this.#startNextSegment()
      const fd = this.#open()
      let written = 0
      while (written < bytes.length) {
        const bytesWritten = this.#files.write(fd, bytes, written, this.#size + written)
        if (bytesWritten === 0) throw new Error('the journal write wrote no bytes')
        written += bytesWritten
      }
      this.#size += bytes.length
      this.#syncs?.written(fd, count)
    } catch (error) {
      this.#undoWrite()
      throw error
    }
  }

  #open(): number {
    if (this.#fd === undefined) {
      this.#options.createFolder()
      this.#fd = this.#files.open(segmentFile(this.#options.folder, this.#segment))
      // The journal's folder and its parents may be new too.
      const root = path.dirname(this.#options.folder)
      for (const folder of [this.#options.folder, root, path.dirname(root)])
        this.#syncs?.changed(folder)
    }
    return this.#fd
  }

  #undoWrite(): void {
    if (this.#fd === undefined) return
    try {
      this.#files.truncate(this.#fd, this.#size)
    } catch {
      // The partial frame stays as the torn end of a segment that is not appended to again.
      this.#startNextSegment()
    }
  }

  #restoreSegment(): void {
    const fd = this.#fd
    if (fd === undefined) return
    const file = segmentFile(this.#options.folder, this.#segment)
    if (this.#files.identity(fd) === this.#files.identity(file)) return
    const copy = this.#files.restore(fd, this.#size, file)
    this.#options.onRestored?.(this.#size)
    this.#startNextSegment()
    this.#options.onWritten()
    if (this.#syncs === undefined) closeQuietly(this.#files, copy)
    else {
      this.#syncs.written(copy, 0)
      this.#syncs.retire(copy)
    }
  }

  #markDoubtful(count: number, error: unknown): void {
    this.counts.doubtful += count
    this.#startNextSegment()
    this.#options.onDoubt(count, error)
  }

  /** A number without a file would look like a segment that is missing. */
  #startNextSegment(): void {
    if (this.#fd === undefined) return
    this.#closeSegment()
    this.#segment += 1
    this.#size = 0
  }

  #closeSegment(): void {
    if (this.#fd === undefined) return
    const fd = this.#fd
    this.#fd = undefined
    if (this.#syncs === undefined) closeQuietly(this.#files, fd)
    else this.#syncs.retire(fd)
  }
}
