import {
  closeSync,
  fdatasync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { copyBytes } from '../../platform/disk/copy-bytes.ts'
import { fileIdentity } from '../../platform/disk/file-identity.ts'
import { syncFolder } from '../../platform/disk/sync-folder.ts'

const syncData = promisify(fdatasync)

/** The file operations of `JournalWriter`; tests pass operations that fail. */
export type JournalFiles = {
  open(file: string): number
  /** Returns the bytes written, which may be fewer than requested, as with the system call. */
  write(fd: number, bytes: Buffer, offset: number, position: number): number
  truncate(fd: number, size: number): void
  close(fd: number): void
  /** See `fileIdentity`. */
  identity(file: string | number): string | undefined
  /**
   * Copies the first bytes of an open file, also of a removed one, to a path in one step, and opens the copy. What is at
   * the path is replaced.
   */
  restore(fd: number, bytes: number, file: string): number
  /** Resolves when the contents of the file are on disk. */
  sync(fd: number): Promise<void>
  /** Resolves when the folder's directory entries are on disk. */
  syncFolder(folder: string): Promise<void>
}

export const systemFiles: JournalFiles = {
  // Readable, so that a file that was removed can be restored.
  open: (file) => openSync(file, 'wx+', 0o600),
  write: (fd, bytes, offset, position) =>
    writeSync(fd, bytes, offset, bytes.length - offset, position),
  truncate: ftruncateSync,
  close: closeSync,
  identity: fileIdentity,
  restore(fd, bytes, file) {
    const temporary = `${file}.restored`
    rmSync(temporary, { force: true })
    try {
      copyBytes(fd, bytes, temporary)
      renameSync(temporary, file)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
    return openSync(file, 'r+')
  },
  sync: (fd) => syncData(fd),
  syncFolder,
}

/** Closes a file to which nothing is written any more, and ignores failures. */
export function closeQuietly(files: JournalFiles, fd: number): void {
  try {
    files.close(fd)
  } catch {
    // The data is in the kernel already; only the file handle is lost.
  }
}
