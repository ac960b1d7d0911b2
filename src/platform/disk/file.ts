import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'

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

/**
 * Names the file at a path, or the one that a descriptor has open, independently of its path: by its device and inode.
 * While a file is open, no other one has its name. Undefined if nothing is at the path.
 */
export function fileIdentity(file: string | number): string | undefined {
  const options = { bigint: true } as const
  const found =
    typeof file === 'number'
      ? fstatSync(file, options)
      : statSync(file, { ...options, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
