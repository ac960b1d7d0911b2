import { closeSync, fdatasync, fsync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'

const syncData = promisify(fdatasync)
const syncAll = promisify(fsync)

/** The file operations of a journal's writer, as a parameter, so that a test can make them fail. */
export type JournalFiles = {
  open(file: string): number
  /** May write less than all, as the system call may. */
  write(fd: number, bytes: Buffer, offset: number, position: number): number
  truncate(fd: number, size: number): void
  close(fd: number): void
  /** Settles when all that was written to the file is on disk. */
  sync(fd: number): Promise<void>
  /** Settles when it is on disk which files the folder has. */
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
    // Windows cannot open a folder so, and keeps its folders in a log of its own.
    if (process.platform === 'win32') return
    const fd = openSync(folder, 'r')
    try {
      await syncAll(fd)
    } finally {
      closeSync(fd)
    }
  },
}
