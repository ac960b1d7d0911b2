import { readFileSync } from 'node:fs'
import { decodeFrames } from '../../src/clicks/journal/frame.ts'
import type { JournalFiles } from '../../src/clicks/journal/journal-writer.ts'
import { listSegments, segmentFile } from '../../src/clicks/journal/segments.ts'
import type { Click } from '../../src/domain/clicks/click.ts'

type Call = { readonly name: keyof JournalFiles; readonly bytes: number }

/** Files in memory that fail when they are told to. */
export class FakeFiles implements JournalFiles {
  readonly contents = new Map<string, Buffer>()
  readonly calls: Call[] = []
  /** The most that one write takes. */
  writeBytesMax = Number.POSITIVE_INFINITY
  /** Room on the disk for all files together. */
  roomBytes = Number.POSITIVE_INFINITY
  readonly failing = new Set<keyof JournalFiles>()
  readonly #handles: (string | undefined)[] = []

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
    const grown = Buffer.alloc(Math.max(old.length, position + count))
    old.copy(grown)
    bytes.copy(grown, position, offset, offset + count)
    this.contents.set(file, grown)
    return count
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

  count(name: keyof JournalFiles): number {
    return this.calls.filter((call) => call.name === name).length
  }

  /** Handles that nobody has closed. */
  openHandles(): number {
    return this.#handles.filter((file) => file !== undefined).length
  }

  /** What a reader finds in all segments. */
  clicks(): Click[] {
    return [...this.contents.values()].flatMap(
      (bytes) => decodeFrames(bytes, Number.POSITIVE_INFINITY).clicks,
    )
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
  return listSegments(folder).flatMap(
    (segment) =>
      decodeFrames(readFileSync(segmentFile(folder, segment)), Number.POSITIVE_INFINITY).clicks,
  )
}
