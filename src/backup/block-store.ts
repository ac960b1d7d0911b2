import { createHash, createHmac } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import type { BackupCipher } from './encryption.ts'
import type { BackupFile } from './manifest.ts'
import type { BackupTarget } from './targets/backup-target.ts'

/**
 * The size of a block. Small enough that a database of which few pages have changed needs few new blocks, and
 * that an object store takes one in a single request.
 */
const BLOCK_BYTES = 4 * 1024 * 1024
const FOLDER = 'blocks/'

/**
 * Stores files as blocks that are named by their contents, so that what has not changed since an earlier
 * backup is stored once.
 */
export class BlockStore {
  readonly #target: BackupTarget
  readonly #cipher: BackupCipher
  readonly #nameKey: Buffer | undefined
  /** Stored blocks and their stored sizes. */
  readonly #stored: Map<string, number>
  #writtenBytes = 0

  private constructor(
    options: { target: BackupTarget; cipher: BackupCipher; nameKey: Buffer | undefined },
    stored: Map<string, number>,
  ) {
    this.#target = options.target
    this.#cipher = options.cipher
    this.#nameKey = options.nameKey
    this.#stored = stored
  }

  /**
   * @param options.nameKey names blocks by a keyed hash, so that a name in an encrypted target does not reveal
   *   whether a known file is stored
   */
  static async open(options: {
    target: BackupTarget
    cipher: BackupCipher
    nameKey: Buffer | undefined
  }): Promise<BlockStore> {
    const objects = await options.target.list(FOLDER)
    const stored = new Map(
      objects.map(({ name, size }) => [name.slice(name.lastIndexOf('/') + 1), size]),
    )
    return new BlockStore(options, stored)
  }

  /** Bytes that this backup has written. */
  get writtenBytes(): number {
    return this.#writtenBytes
  }

  has(block: string): boolean {
    return this.#stored.has(block)
  }

  /** Returns the stored size of blocks. */
  storedBytes(blocks: Iterable<string>): number {
    let sum = 0
    for (const block of blocks) sum += this.#stored.get(block) ?? 0
    return sum
  }

  /**
   * Stores the first `size` bytes of an open file.
   *
   * @throws when the file is shorter
   */
  async storeFile(path: string, fd: number, size: number): Promise<BackupFile> {
    const hash = createHash('sha256')
    const blocks: string[] = []
    for (let offset = 0; offset < size; ) {
      const bytes = readFully(fd, Math.min(BLOCK_BYTES, size - offset), offset)
      hash.update(bytes)
      blocks.push(await this.#storeBlock(bytes))
      offset += bytes.length
    }
    return { path, size, sha256: hash.digest('hex'), blocks }
  }

  /** As `storeFile`, for a whole file that no process changes. */
  async storeWhole(path: string, file: string, size: number): Promise<BackupFile> {
    const fd = openSync(file, 'r')
    try {
      return await this.storeFile(path, fd, size)
    } finally {
      closeSync(fd)
    }
  }

  /** Removes all blocks that are not in `needed`. Returns how many. */
  async sweep(needed: ReadonlySet<string>): Promise<number> {
    let removed = 0
    for (const block of this.#stored.keys()) {
      if (needed.has(block)) continue
      await this.#target.remove(objectName(block))
      this.#stored.delete(block)
      removed += 1
    }
    return removed
  }

  async #storeBlock(bytes: Buffer): Promise<string> {
    const name = this.#nameOf(bytes)
    if (this.#stored.has(name)) return name
    const stored = await this.#cipher.encrypt(bytes)
    await this.#target.write(objectName(name), stored)
    this.#stored.set(name, stored.length)
    this.#writtenBytes += stored.length
    return name
  }

  #nameOf(bytes: Buffer): string {
    return this.#nameKey === undefined
      ? createHash('sha256').update(bytes).digest('hex')
      : createHmac('sha256', this.#nameKey).update(bytes).digest('hex')
  }
}

/**
 * Reads the blocks of a file one after the other, and verifies the file at its end.
 *
 * @throws when a block is missing or damaged, or the file is not the one that was stored
 */
export async function* readBlocks(
  {
    target,
    decrypt,
  }: { target: BackupTarget; decrypt: ((bytes: Uint8Array) => Promise<Uint8Array>) | undefined },
  file: BackupFile,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let size = 0
  for (const block of file.blocks) {
    const stored = await target.read(objectName(block))
    if (stored === undefined) throw damagedFile(file, `the block ${block} is missing`)
    let bytes: Uint8Array
    try {
      bytes = decrypt === undefined ? stored : await decrypt(stored)
    } catch (error) {
      throw damagedFile(file, error instanceof Error ? error.message : String(error))
    }
    hash.update(bytes)
    size += bytes.length
    yield bytes
  }
  if (size !== file.size || hash.digest('hex') !== file.sha256) {
    throw damagedFile(file, 'its hash differs from that in the manifest')
  }
}

function damagedFile({ path }: BackupFile, reason: string): Error {
  return new Error(`${path} cannot be restored: ${reason}. Restore another backup.`)
}

function objectName(block: string): string {
  return `${FOLDER}${block.slice(0, 2)}/${block}`
}

function readFully(fd: number, length: number, position: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let done = 0; done < length; ) {
    const read = readSync(fd, bytes, done, length - done, position + done)
    if (read === 0) throw new Error('a file became shorter while it was copied')
    done += read
  }
  return bytes
}
