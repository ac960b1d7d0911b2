import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Click } from '../../src/clicks/click.ts'
import { listSegments, segmentFile } from '../../src/clicks/journal/journal-folder.ts'
import type { JournalFiles } from '../../src/clicks/journal/journal-writer.ts'
import { clicksInFrames } from '../support/click-frames.ts'

type Call = { readonly name: keyof JournalFiles; readonly bytes: number }

/**
 * Files in memory that fail on request, on a disk that behaves as Linux's: after a failed sync,
 * later syncs of the same file succeed without writing the lost data.
 */
export class FakeFiles implements JournalFiles {
  readonly contents = new Map<string, Buffer>()
  /** The contents that would survive if the machine stopped now. */
  readonly onDisk = new Map<string, Buffer>()
  /** While set, syncs wait until `settleSyncs`. */
  holdSyncs = false
  readonly calls: Call[] = []
  /** The most bytes that one write accepts. */
  writeBytesMax = Number.POSITIVE_INFINITY
  /** Free space on the disk, shared by all files. */
  roomBytes = Number.POSITIVE_INFINITY
  readonly failing = new Set<keyof JournalFiles>()
  readonly #handles: (string | undefined)[] = []
  readonly #spoilt = new Set<string>()
  #held: (() => void)[] = []
  /** The memory of the file written last, and how much of it that file has taken. */
  #reserved: Buffer | undefined
  #reservedUsed = 0

  open(file: string): number {
    this.#called('open', 0)
    if (this.contents.has(file)) throw failure('EEXIST')
    this.contents.set(file, Buffer.alloc(0))
    return this.#handles.push(file) - 1
  }

  write(fd: number, bytes: Buffer, offset: number, position: number): number {
    this.#called('write', bytes.length - offset)
    const file = this.#fileOf(fd)
    const room = this.roomBytes - this.#used()
    if (room <= 0) throw failure('ENOSPC')
    const count = Math.min(bytes.length - offset, this.writeBytesMax, room)
    const old = this.contents.get(file) ?? Buffer.alloc(0)
    const size = Math.max(old.length, position + count)
    const space = this.#spaceFor(old, size, position)
    bytes.copy(space, position, offset, offset + count)
    this.contents.set(file, space.subarray(0, size))
    return count
  }

  /**
   * Memory that begins with `old` and has `size` bytes at least. Appending takes what is left behind the old
   * contents, because to copy them for every write of a large file takes seconds.
   */
  #spaceFor(old: Buffer, size: number, position: number): Buffer {
    const reserved = this.#reserved
    const isLast = reserved?.buffer === old.buffer && position === old.length
    if (isLast && this.#reservedUsed === old.length && size <= reserved.length) {
      this.#reservedUsed = size
      return reserved
    }
    const space = Buffer.from(new ArrayBuffer(size * 2))
    old.copy(space)
    this.#reserved = space
    this.#reservedUsed = size
    return space
  }

  truncate(fd: number, size: number): void {
    this.#called('truncate', 0)
    const file = this.#fileOf(fd)
    this.contents.set(file, (this.contents.get(file) ?? Buffer.alloc(0)).subarray(0, size))
  }

  close(fd: number): void {
    this.#called('close', 0)
    this.#fileOf(fd)
    this.#handles[fd] = undefined
  }

  identity(file: string | number): string | undefined {
    if (typeof file === 'number') return this.#fileOf(file)
    return this.contents.has(file) ? file : undefined
  }

  restore(): number {
    throw failure('ENOSYS')
  }

  async sync(fd: number): Promise<void> {
    const file = this.#fileOf(fd)
    const bytes = this.contents.get(file) ?? Buffer.alloc(0)
    await this.#hold()
    assert.equal(this.#handles[fd], file, 'a file must stay open until it is synced')
    try {
      this.#called('sync', 0)
    } catch (error) {
      this.#spoilt.add(file)
      throw error
    }
    if (!this.#spoilt.has(file)) this.onDisk.set(file, bytes)
  }

  async syncFolder(): Promise<void> {
    await this.#hold()
    this.#called('syncFolder', 0)
  }

  /** Settles the syncs that are waiting. */
  settleSyncs(): void {
    const held = this.#held
    this.#held = []
    for (const resume of held) resume()
  }

  count(name: keyof JournalFiles): number {
    return this.calls.filter((call) => call.name === name).length
  }

  /** Handles that are still open. */
  openHandles(): number {
    return this.#handles.filter((file) => file !== undefined).length
  }

  /** The clicks that a reader finds in all segments. */
  clicks(files: ReadonlyMap<string, Buffer> = this.contents): Click[] {
    return [...files.values()].flatMap((bytes) => clicksInFrames(bytes))
  }

  async #hold(): Promise<void> {
    if (!this.holdSyncs) return
    await new Promise<void>((resume) => this.#held.push(resume))
  }

  #used(): number {
    return [...this.contents.values()].reduce((sum, bytes) => sum + bytes.length, 0)
  }

  #fileOf(fd: number): string {
    const file = this.#handles[fd]
    if (file === undefined) throw failure('EBADF')
    return file
  }

  #called(name: keyof JournalFiles, bytes: number): void {
    this.calls.push({ name, bytes })
    if (this.failing.has(name)) throw failure('EIO')
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** The clicks in the segments of a folder. */
export function clicksInFolder(folder: string): Click[] {
  return listSegments(folder).flatMap((segment) =>
    clicksInFrames(readFileSync(segmentFile(folder, segment))),
  )
}
