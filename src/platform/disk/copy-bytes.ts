import { closeSync, openSync, readSync, writeSync } from 'node:fs'

const PIECE_BYTES = 1024 * 1024

/** Copies the first `size` bytes of an open file to a new file that only its owner can read. */
export function copyBytes(fd: number, size: number, file: string): void {
  const piece = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES))
  const output = openSync(file, 'wx', 0o600)
  try {
    for (let offset = 0; offset < size; ) {
      const length = readSync(fd, piece, 0, Math.min(piece.length, size - offset), offset)
      if (length === 0) throw new Error(`${file} cannot be copied: its original became shorter`)
      for (let done = 0; done < length; ) done += writeSync(output, piece, done, length - done)
      offset += length
    }
  } finally {
    closeSync(output)
  }
}
