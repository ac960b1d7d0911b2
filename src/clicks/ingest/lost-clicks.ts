import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'

/** A loss is written once in this time: on a full disk each visit may be one. */
const WRITE_DELAY_MS = 500
/** Always as many, so that the file needs no further block on a full disk. */
const DIGITS = 16

/**
 * Counts the clicks that a process could not store, or that were lost with damaged journals. A file of the data folder
 * keeps the count: a restart does not reset it, and the file can be removed to begin anew.
 */
export class LostClicks {
  readonly #file: string
  #stored = 0
  #unstored = 0
  #timer: NodeJS.Timeout | undefined

  /** @param processNumber of this process among those of the service: each has a file of its own */
  constructor(dataDir: string, processNumber: number) {
    this.#file = path.join(dataDir, 'lost-clicks', String(processNumber))
    this.flush()
  }

  /** Since the data folder was created. */
  get count(): number {
    return this.#stored + this.#unstored
  }

  add(clicks: number): void {
    if (clicks === 0) return
    this.#unstored += clicks
    this.#timer ??= setTimeout(() => this.flush(), WRITE_DELAY_MS).unref()
  }

  /** Writes the count now. What cannot be written is written with the next loss, or the next `flush`. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      // Read again: during a rolling restart two processes have the same number.
      const count = this.#read() + this.#unstored
      this.#write(count)
      this.#stored = count
      this.#unstored = 0
    } catch {
      // The disk has a fault, which is reported.
    }
  }

  /** Creates the file while there is room: it needs none later. */
  #read(): number {
    try {
      const count = Number(readFileSync(this.#file, 'utf8'))
      return Number.isSafeInteger(count) ? count : 0
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error
      createFolder(path.dirname(this.#file))
      closeSync(openSync(this.#file, 'a', 0o600))
      return 0
    }
  }

  #write(count: number): void {
    const fd = openSync(this.#file, 'r+')
    try {
      writeSync(fd, `${String(count).padStart(DIGITS, '0')}\n`, 0)
    } finally {
      closeSync(fd)
    }
  }
}
