import { closeSync, fdatasync, fsync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'

const syncData = promisify(fdatasync)
const syncAll = promisify(fsync)

/** The file operations of `JournalWriter`; tests pass operations that fail. */
export type JournalFiles = {
  open(file: string): number
  /** Returns the bytes written, which may be fewer than requested, as with the system call. */
  write(fd: number, bytes: Buffer, offset: number, position: number): number
  truncate(fd: number, size: number): void
  close(fd: number): void
  /** Resolves when the contents of the file are on disk. */
  sync(fd: number): Promise<void>
  /** Resolves when the folder's directory entries are on disk. */
  syncFolder(folder: string): Promise<void>
}

export const systemFiles: JournalFiles = {
  open: (file) => openSync(file, 'wx', 0o600),
  write: (fd, bytes, offset, position) =>
    writeSync(fd, bytes, offset, bytes.length - offset, position),
  truncate: ftruncateSync,
  close: closeSync,
  sync: (fd) => syncData(fd),
  async syncFolder(folder) {
    // Windows cannot open a folder like this, and NTFS journals directory entries itself.
    if (process.platform === 'win32') return
    const fd = openSync(folder, 'r')
    try {
      await syncAll(fd)
    } finally {
      closeSync(fd)
    }
  },
}

/** Closes a file to which nothing is written any more, and ignores failures. */
export function closeQuietly(files: JournalFiles, fd: number): void {
  try {
    files.close(fd)
  } catch {
    // The data is in the kernel already; only the file handle is lost.
  }
}
