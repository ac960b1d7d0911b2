import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { isCode } from '../process/is-code.ts'

const NAME = 'reserve'
const CHUNK_BYTES = 1024 * 1024

/**
 * A file that takes room on the disk, so that there is some to give up when the disk is full. Given up,
 * it is empty rather than gone: that is how all processes of the folder know of it, also those that
 * start later.
 */
export class DiskReserve {
  readonly #folder: string
  readonly #file: string
  #givenUpCount = 0

  constructor(folder: string) {
    this.#folder = folder
    this.#file = path.join(folder, NAME)
  }

  /** Undefined where there is none yet; 0 where it was given up. */
  async bytes(): Promise<number | undefined> {
    try {
      return (await stat(this.#file)).size
    } catch (error) {
      if (isCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /**
   * Frees what the reserve takes. Where there was none it counts as given up too. Synchronous, because
   * clicks wait for it.
   */
  giveUp(): void {
    this.#givenUpCount += 1
    try {
      closeSync(openSync(this.#file, 'w', 0o600))
    } catch {
      // The disk takes no change at all, so nothing is freed; the fault itself is reported by the caller.
    }
  }

  /**
   * Makes a reserve of this size, or makes it again.
   *
   * @throws where the disk does not take it; what there was before is then still there
   */
  async make(bytes: number): Promise<void> {
    const before = this.#givenUpCount
    const beside = `${this.#file}.${process.pid}`
    try {
      await fill(beside, bytes)
      // Given up meanwhile: the disk has filled up since.
      if (this.#givenUpCount === before) await rename(beside, this.#file)
    } finally {
      await rm(beside, { force: true })
    }
  }

  /** Removes what processes left that were killed while they made a reserve. */
  async removeLeftovers(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (name.startsWith(`${NAME}.`)) await rm(path.join(this.#folder, name), { force: true })
    }
  }
}

/** With random bytes: some file systems store nothing for zeros. */
async function fill(file: string, bytes: number): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    const chunk = randomBytes(Math.min(CHUNK_BYTES, bytes))
    for (let written = 0; written < bytes; ) {
      const { bytesWritten } = await handle.write(chunk, 0, Math.min(chunk.length, bytes - written))
      written += bytesWritten
    }
  } finally {
    await handle.close()
  }
}
