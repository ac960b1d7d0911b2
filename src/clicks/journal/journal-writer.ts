import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { Click, ClickRecorder } from '../../domain/clicks/click.ts'
import { encodeFrame, FRAME_CLICKS_MAX } from './frame.ts'
import { listSegments, segmentFile } from './segments.ts'

/** A segment that has grown past this is closed, and removed once its clicks are taken in. */
const SEGMENT_BYTES_MAX = 16 * 1024 * 1024

/** The file operations of the writer, as a parameter, so that a test can make them fail. */
export type JournalFiles = {
  open(file: string): number
  /** May write less than all, as the system call may. */
  write(fd: number, bytes: Buffer, offset: number, position: number): number
  truncate(fd: number, size: number): void
  close(fd: number): void
}

const systemFiles: JournalFiles = {
  open: (file) => openSync(file, 'wx', 0o600),
  write: (fd, bytes, offset, position) =>
    writeSync(fd, bytes, offset, bytes.length - offset, position),
  truncate: ftruncateSync,
  close: closeSync,
}

/**
 * Appends clicks to a node's journal: one write per turn of the event loop, shared by all the visits
 * that the turn answers. `done` is called when the write has reached the kernel, from where a killed
 * process no longer loses it.
 *
 * A write that fails is taken back, so that no half of it can be read as something else; its clicks
 * are lost, counted, and reported, and their visitors are redirected all the same.
 */
export class JournalWriter implements ClickRecorder {
  readonly #folder: string
  readonly #files: JournalFiles
  readonly #onWritten: () => void
  readonly #onLost: (count: number, error: unknown) => void
  #segment: number
  #fd: number | undefined
  #size = 0
  #clicks: Click[] = []
  #callbacks: (() => void)[] = []
  #scheduled = false
  #lost = 0

  /**
   * @param options.afterSegment the last segment that is known to have been read
   * @param options.onWritten told after each write, so that someone may read it
   */
  constructor(options: {
    folder: string
    afterSegment: number
    files?: JournalFiles
    onWritten: () => void
    onLost: (count: number, error: unknown) => void
  }) {
    this.#folder = options.folder
    this.#files = options.files ?? systemFiles
    this.#onWritten = options.onWritten
    this.#onLost = options.onLost
    // Always a new segment: the tail of the last one may be torn, and nothing is appended to that.
    const last = listSegments(options.folder).at(-1) ?? 0
    this.#segment = Math.max(last, options.afterSegment) + 1
  }

  /** The segment that is being written; those below it are complete. */
  get segment(): number {
    return this.#segment
  }

  /** Clicks that could not be kept since the start. */
  get lost(): number {
    return this.#lost
  }

  record(click: Click, done: () => void): void {
    this.#clicks.push(click)
    this.#callbacks.push(done)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.flush())
  }

  /** Writes what is waiting. */
  flush(): void {
    this.#scheduled = false
    const clicks = this.#clicks
    const callbacks = this.#callbacks
    if (clicks.length === 0) return
    this.#clicks = []
    this.#callbacks = []
    for (let start = 0; start < clicks.length; start += FRAME_CLICKS_MAX) {
      this.#append(clicks.slice(start, start + FRAME_CLICKS_MAX))
    }
    for (const done of callbacks) done()
    this.#onWritten()
  }

  close(): void {
    this.flush()
    this.#closeSegment()
  }

  #append(clicks: readonly Click[]): void {
    const frame = encodeFrame(clicks)
    try {
      if (this.#size > SEGMENT_BYTES_MAX) this.#startNextSegment()
      this.#fd ??= this.#files.open(segmentFile(this.#folder, this.#segment))
      let written = 0
      while (written < frame.length) {
        const count = this.#files.write(this.#fd, frame, written, this.#size + written)
        if (count === 0) throw new Error('the journal took no bytes')
        written += count
      }
      this.#size += frame.length
    } catch (error) {
      this.#lost += clicks.length
      this.#takeBack()
      this.#onLost(clicks.length, error)
    }
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

  #startNextSegment(): void {
    this.#closeSegment()
    this.#segment += 1
    this.#size = 0
  }

  #closeSegment(): void {
    if (this.#fd === undefined) return
    const fd = this.#fd
    this.#fd = undefined
    try {
      this.#files.close(fd)
    } catch {
      // What was written is in the kernel already; there is nothing to do about the handle.
    }
  }
}
