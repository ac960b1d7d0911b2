import { createHash, createHmac } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import { type BackupCipher, WrongIdentity } from './encryption.ts'
import { type BackupFile, DamagedBackup } from './manifest.ts'
import type { BackupTarget } from './targets/backup-target.ts'

/**
 * The size of a block. Small enough that a database of which few pages have changed needs few new blocks, and
 * that an object store takes one in a single request.
 */
const BLOCK_BYTES = 4 * 1024 * 1024
const FOLDER = 'blocks/'
/** An object with a block's name here marks that block as damaged: it is written again when a backup needs it. */
const MARKS = 'damaged/'

/** A block, and the file of the backup that needs it. */
export type BlockOfFile = { readonly block: string; readonly file: string }

/** How the blocks of a backup are read. */
export type BlockSource = {
  readonly target: BackupTarget
  /** Undefined for blocks that are not encrypted. */
  readonly decrypt: BackupCipher['decrypt'] | undefined
  /** The key by which encrypted blocks are named; undefined when it is not known. */
  readonly nameKey?: Buffer | undefined
}

/**
 * Stores files as blocks that are named by their contents, so that what has not changed since an earlier
 * backup is stored once. A block whose size is wrong, or that was marked as damaged, counts as not stored.
 */
export class BlockStore {
  readonly #target: BackupTarget
  readonly #cipher: BackupCipher
  readonly #nameKey: Buffer | undefined
  readonly #storedSize: (bytes: number) => number
  /** Stored blocks and their stored sizes. */
  readonly #stored: Map<string, number>
  readonly #marked: Set<string>
  /** Blocks that were written again and whose marks are still in the target. */
  readonly #healed = new Set<string>()
  readonly #repaired: BlockOfFile[] = []
  #writtenBytes = 0

  private constructor(
    options: { target: BackupTarget; cipher: BackupCipher; nameKey: Buffer | undefined },
    found: {
      storedSize: (bytes: number) => number
      stored: Map<string, number>
      marked: Set<string>
    },
  ) {
    this.#target = options.target
    this.#cipher = options.cipher
    this.#nameKey = options.nameKey
    this.#storedSize = found.storedSize
    this.#stored = found.stored
    this.#marked = found.marked
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
    const { target, cipher } = options
    const objects = await target.list(FOLDER)
    const stored = new Map(objects.map(({ name, size }) => [baseName(name), size]))
    const marked = await listMarkedBlocks(target)
    return new BlockStore(options, { storedSize: await cipher.measure(), stored, marked })
  }

  /** Bytes that this backup has written. */
  get writtenBytes(): number {
    return this.#writtenBytes
  }

  /** Blocks that were damaged, and that this backup has written again. */
  get repaired(): readonly BlockOfFile[] {
    return this.#repaired
  }

  /** Whether all blocks of a file are stored. */
  holds({ size, blocks }: BackupFile): boolean {
    return blocks.every((block, index) =>
      this.#isIntact(block, Math.min(BLOCK_BYTES, size - index * BLOCK_BYTES)),
    )
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
      blocks.push(await this.#storeBlock(path, bytes))
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

  /**
   * Marks blocks as damaged, here and in the target: this backup or a later one writes them again. They are not
   * removed, because what is left of them may be all that an older backup has.
   */
  async markDamaged(blocks: Iterable<string>): Promise<void> {
    for (const block of blocks) {
      this.#marked.add(block)
      this.#healed.delete(block)
      await this.#target.write(MARKS + block, Buffer.from(`${new Date().toISOString()}\n`))
    }
  }

  /**
   * Removes all blocks that are not in `needed`, and the marks of those that were written again. What was written
   * must have been synced. Returns how many blocks were removed.
   */
  async sweep(needed: ReadonlySet<string>): Promise<number> {
    let removed = 0
    for (const block of this.#stored.keys()) {
      if (needed.has(block)) continue
      await this.#target.remove(objectName(block))
      this.#stored.delete(block)
      removed += 1
    }
    for (const block of [...this.#marked, ...this.#healed]) {
      if (this.#marked.has(block) && needed.has(block)) continue
      await this.#target.remove(MARKS + block)
      this.#marked.delete(block)
      this.#healed.delete(block)
    }
    return removed
  }

  async #storeBlock(file: string, bytes: Buffer): Promise<string> {
    const name = nameOf(bytes, this.#nameKey)
    if (this.#isIntact(name, bytes.length)) return name
    const isDamaged = this.#stored.has(name)
    const stored = await this.#cipher.encrypt(bytes)
    await this.#target.write(objectName(name), stored)
    this.#stored.set(name, stored.length)
    this.#writtenBytes += stored.length
    if (this.#marked.delete(name)) this.#healed.add(name)
    if (isDamaged) this.#repaired.push({ block: name, file })
    return name
  }

  #isIntact(block: string, bytes: number): boolean {
    return !this.#marked.has(block) && this.#stored.get(block) === this.#storedSize(bytes)
  }
}

/**
 * Reads the blocks of a file one after the other, and verifies the file at its end.
 *
 * @throws {DamagedBackup} when a block is missing or damaged, or the file is not the one that was stored
 */
export async function* readBlocks(
  source: BlockSource,
  file: BackupFile,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let size = 0
  for (const block of file.blocks) {
    const read = await readBlock(source, block)
    if ('fault' in read) throw damagedBlock(file.path, block, read.fault)
    hash.update(read.bytes)
    size += read.bytes.length
    yield read.bytes
  }
  if (size === file.size && hash.digest('hex') === file.sha256) return
  const [damaged] = await findDamagedBlocks(source, [file])
  throw damaged === undefined
    ? new DamagedBackup(`${file.path} does not have the hash that is in the manifest`)
    : damagedBlock(file.path, damaged.block, damaged.fault)
}

/** Reads all blocks of some files, and returns those that are missing or damaged. */
export async function findDamagedBlocks(
  source: BlockSource,
  files: readonly BackupFile[],
): Promise<readonly (BlockOfFile & { readonly fault: string })[]> {
  const damaged: (BlockOfFile & { fault: string })[] = []
  const checked = new Set<string>()
  for (const { path, blocks } of files) {
    for (const block of blocks) {
      if (checked.has(block)) continue
      checked.add(block)
      const read = await readBlock(source, block)
      const fault = 'fault' in read ? read.fault : faultOf(read.bytes, block, source)
      if (fault !== undefined) damaged.push({ block, file: path, fault })
    }
  }
  return damaged
}

/** Returns the needed blocks that a target lacks, or that are marked as damaged there. */
export async function listUnusableBlocks(
  target: BackupTarget,
  needed: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const marked = await listMarkedBlocks(target)
  const stored = new Set((await target.list(FOLDER)).map(({ name }) => baseName(name)))
  return new Set([...needed].filter((block) => marked.has(block) || !stored.has(block)))
}

/** Returns the blocks that were found damaged and were not written again. */
export async function listMarkedBlocks(target: BackupTarget): Promise<Set<string>> {
  return new Set((await target.list(MARKS)).map(({ name }) => baseName(name)))
}

/** Reads a block without comparing it with its name: a file is compared as a whole, which costs one hash. */
async function readBlock(
  { target, decrypt }: BlockSource,
  block: string,
): Promise<{ readonly bytes: Uint8Array } | { readonly fault: string }> {
  let stored: Buffer | undefined
  try {
    stored = await target.read(objectName(block))
  } catch (error) {
    // What a disk reports for a bad sector.
    if (hasErrorCode(error, 'EIO')) return { fault: 'cannot be read (EIO)' }
    throw error
  }
  if (stored === undefined) return { fault: 'is missing' }
  if (decrypt === undefined) return { bytes: stored }
  try {
    return { bytes: await decrypt(stored) }
  } catch (error) {
    // A wrong identity too: the manifest was decrypted by the same one.
    if (!(error instanceof DamagedBackup || error instanceof WrongIdentity)) throw error
    return { fault: 'is damaged' }
  }
}

function faultOf(
  bytes: Uint8Array,
  block: string,
  { decrypt, nameKey }: BlockSource,
): string | undefined {
  if (decrypt !== undefined && nameKey === undefined) return undefined
  return nameOf(bytes, nameKey) === block ? undefined : 'is damaged'
}

function damagedBlock(file: string, block: string, fault: string): DamagedBackup {
  return new DamagedBackup(`a block of ${file} ${fault}: ${objectName(block)}`, [block])
}

function nameOf(bytes: Uint8Array, nameKey: Buffer | undefined): string {
  const hash = nameKey === undefined ? createHash('sha256') : createHmac('sha256', nameKey)
  return hash.update(bytes).digest('hex')
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
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
