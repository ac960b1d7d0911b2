import { closeSync, openSync, writeSync } from 'node:fs'
import { hasErrorCode } from '../../src/platform/process/has-error-code.ts'

/** Small disks on which the journal has no room for all clicks. */
export const SMALL_DISKS = [
  /** Has room for one page: some hundred clicks. */
  { name: 'is on a full disk', options: 'size=4k' },
  /** Has no room for any file or folder. */
  { name: 'is created on a full disk', options: 'nr_inodes=1' },
] as const

/** Writes to a file until its disk is full. */
export function fillDisk(file: string): void {
  const fd = openSync(file, 'a')
  const chunk = Buffer.alloc(4096, 1)
  try {
    for (;;) writeSync(fd, chunk)
  } catch (error) {
    if (!hasErrorCode(error, 'ENOSPC')) throw error
  } finally {
    closeSync(fd)
  }
}
