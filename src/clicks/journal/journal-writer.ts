import path from 'node:path'
import type { Click, ClickRecorder } from '../click.ts'
import { FrameBuilder } from './frame.ts'
import { GroupSync } from './group-sync.ts'
import { type JournalFiles, systemFiles } from './journal-files.ts'
import { listSegments, segmentFile } from './segments.ts'

/** A segment that has grown past this is closed, and removed once its clicks are taken in. */
const SEGMENT_BYTES_MAX = 16 * 1024 * 1024

/** What a click has outlived when its visit is answered: the process, or the machine's power. */
export type ClickDurability = 'process' | 'disk'

/**
 * Appends clicks to a node's journal: one write per turn of the event loop, shared by all the visits
 * that the turn answers. `done` is called when the write has reached the kernel, from where a killed
 * process no longer loses it; for `disk`, when a sync has brought it to the disk.
 *
 * A write that fails is taken back, so that no half of it can be read as something else, and tried once
 * more if `makeRoom` has freed some. Where that fails too, its clicks are lost, counted, and reported,
 * and their visitors are redirected all the same. So are those of
 * clicks whose sync failed; these are in doubt: counted as long as the machine keeps running.
 */
export class JournalWriter implements ClickRecorder {
  readonly #folder: string
  readonly #files: JournalFiles
  readonly #begin: () => void
  readonly #makeRoom: (error: unknown) => boolean
  readonly #onWritten: () => void
  readonly #onLost: (count: number, error: unknown) => void
  readonly #onDoubt: (count: number, error: unknown) => void
  /** Undefined where nobody waits for the disk. */
  readonly #syncs: GroupSync | undefined
  readonly #frame = new FrameBuilder()
  #segment: number
  #fd: number | undefined
  #size = 0
  #callbacks: (() => void)[] = []
  #scheduled = false
  #recorded = 0
  #lost = 0
  #doubtful = 0

  /**
   * @param options.begin makes the folder, unless it is there; called again where it failed
   * @param options.makeRoom called when a write has failed; whether it may work now
   * @param options.onWritten told after each write, so that someone may read it
   */
  constructor(options: {
    folder: string
    durability: ClickDurability
    files?: JournalFiles
    begin: () => void
    makeRoom?: ((error: unknown) => boolean) | undefined
    onWritten: () => void
    onLost: (count: number, error: unknown) => void
    onDoubt: (count: number, error: unknown) => void
  }) {
    this.#folder = options.folder
    this.#files = options.files ?? systemFiles
    this.#begin = options.begin
    this.#makeRoom = options.makeRoom ?? (() => false)
    this.#onWritten = options.onWritten
    this.#onLost = options.onLost
    this.#onDoubt = options.onDoubt
    // Always a new segment: the tail of the last one may be torn, and nothing is appended to that.
    this.#segment = (listSegments(options.folder).at(-1) ?? 0) + 1
    if (options.durability === 'process') return
    this.#syncs = new GroupSync(this.#files, (count, error) => this.#doubt(count, error))
  }

  /** The segment that is being written; those below it are complete. */
  get segment(): number {
    return this.#segment
  }

  /** Clicks that have been journalled since the start. */
  get recorded(): number {
    return this.#recorded
  }

  /** Clicks that could not be kept since the start. */
  get lost(): number {
    return this.#lost
  }

  /** Clicks since the start of which nobody knows whether they would outlive the machine. */
  get doubtful(): number {
    return this.#doubtful
  }

  record(click: Click, done: () => void): void {
    if (this.#frame.isFull) this.#append()
    this.#frame.add(click)
    this.#callbacks.push(done)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.flush())
  }

  /** Writes what is waiting. */
  flush(): void {
    this.#scheduled = false
    const callbacks = this.#callbacks
    if (callbacks.length === 0) return
    this.#callbacks = []
    this.#append()
    if (this.#syncs === undefined) for (const done of callbacks) done()
    else this.#syncs.wait(callbacks)
    this.#onWritten()
  }

  /** Writes what is waiting, at once, and settles when nobody waits for the disk any more. */
  async close(): Promise<void> {
    this.flush()
    await this.#syncs?.idle()
    this.#closeSegment()
  }

  #append(): void {
    const count = this.#frame.count
    const bytes = this.#frame.finish()
    try {
      this.#writeOrMakeRoom(bytes, count)
      this.#recorded += count
    } catch (error) {
      this.#lost += count
      this.#onLost(count, error)
    }
  }

  #writeOrMakeRoom(bytes: Buffer, count: number): void {
    try {
      this.#write(bytes, count)
    } catch (error) {
      if (!this.#makeRoom(error)) throw error
      this.#write(bytes, count)
    }
  }

  /** Writes all of a frame, or takes back what it has written of it and throws. */
  #write(bytes: Buffer, count: number): void {
    try {
      if (this.#size > SEGMENT_BYTES_MAX) this.#startNextSegment()
      const fd = this.#open()
      let written = 0
      while (written < bytes.length) {
        const taken = this.#files.write(fd, bytes, written, this.#size + written)
        if (taken === 0) throw new Error('the journal took no bytes')
        written += taken
      }
      this.#size += bytes.length
      this.#syncs?.written(fd, count)
    } catch (error) {
      this.#takeBack()
      throw error
    }
  }

  #open(): number {
    if (this.#fd === undefined) {
      this.#begin()
      this.#fd = this.#files.open(segmentFile(this.#folder, this.#segment))
      // The journal's folder, and the one of all journals, may be new too.
      const root = path.dirname(this.#folder)
      for (const folder of [this.#folder, root, path.dirname(root)]) this.#syncs?.changed(folder)
    }
    return this.#fd
  }

  #takeBack(): void {
    if (this.#fd === undefined) return
    try {
      this.#files.truncate(this.#fd, this.#size)
    } catch {
      // The half stays, as the torn tail of a segment to which nothing more is added.
      this.#startNextSegment()
    }
  }

  #doubt(count: number, error: unknown): void {
    this.#doubtful += count
    this.#startNextSegment()
    this.#onDoubt(count, error)
  }

  #startNextSegment(): void {
    this.#closeSegment()
    this.#segment += 1
    this.#size = 0
  }

  #closeSegment(): void {
    if (this.#fd === undefined) return
    const fd = this.#fd
    this.#fd = undefined
    if (this.#syncs !== undefined) {
      this.#syncs.retire(fd)
      return
    }
    try {
      this.#files.close(fd)
    } catch {
      // What was written is in the kernel already; there is nothing to do about the handle.
    }
  }
}
