import { type JournalFiles, systemFiles } from '../../src/clicks/journal/journal-writer.ts'

/** The real file system, on a disk that fails on request. */
export class FailingFiles implements JournalFiles {
  /**
   * Bytes that the disk still accepts; a write that needs more is cut short, and the next one
   * writes nothing.
   */
  roomBytes = Number.POSITIVE_INFINITY
  /** Whether syncs fail. */
  syncsFail = false
  readonly open = systemFiles.open
  readonly truncate = systemFiles.truncate
  readonly close = systemFiles.close
  readonly identity = systemFiles.identity
  readonly restore = systemFiles.restore
  readonly syncFolder = systemFiles.syncFolder

  write(fd: number, bytes: Buffer, offset: number, position: number): number {
    if (this.roomBytes <= 0) throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
    const end = Math.min(bytes.length, offset + this.roomBytes)
    const taken = systemFiles.write(fd, bytes.subarray(0, end), offset, position)
    this.roomBytes -= taken
    return taken
  }

  async sync(fd: number): Promise<void> {
    if (this.syncsFail) throw Object.assign(new Error('a failed sync'), { code: 'EIO' })
    await systemFiles.sync(fd)
  }
}
