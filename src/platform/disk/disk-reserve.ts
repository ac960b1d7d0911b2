import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { hasErrorCode } from '../process/has-error-code.ts'

const NAME = 'reserve'
const CHUNK_BYTES = 1024 * 1024

/**
 * A file that reserves disk space, to be released when the disk is full. A released reserve is an empty file
 * rather than a missing one, so that every process of the folder can see it, including later ones.
 */
export class DiskReserve {
  readonly #folder: string
  readonly #file: string
  #releaseCount = 0

  constructor(folder: string) {
    this.#folder = folder
    this.#file = path.join(folder, NAME)
  }

  /** The size of the reserve: undefined before it is created, 0 after it was released. */
  async bytes(): Promise<number | undefined> {
    try {
      return (await stat(this.#file)).size
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /**
   * Frees the space of the reserve. A reserve that does not exist is marked as released too. Synchronous,
   * because clicks wait for it.
   */
  release(): void {
    this.#releaseCount += 1
    try {
      closeSync(openSync(this.#file, 'w', 0o600))
    } catch {
      // The disk accepts no change, so nothing is freed. The caller reports the fault.
    }
  }

  /**
   * Creates a reserve of this size, or replaces the existing one.
   *
   * @throws if the disk cannot hold it; the previous reserve is then unchanged
   */
  async create(bytes: number): Promise<void> {
    const before = this.#releaseCount
    const temporary = `${this.#file}.${process.pid}`
    try {
      await fill(temporary, bytes)
      // Skipped if the reserve was released in the meantime: the disk has filled up since.
      if (this.#releaseCount === before) await rename(temporary, this.#file)
    } finally {
      await rm(temporary, { force: true })
    }
  }

  /** Removes the temporary files of processes that were killed while they created a reserve. */
  async removeLeftovers(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (name.startsWith(`${NAME}.`)) await rm(path.join(this.#folder, name), { force: true })
    }
  }
}

/** Fills the file with random bytes: some file systems store nothing for zeros. */
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
