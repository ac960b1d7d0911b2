import { closeSync, fsync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const syncAll = promisify(fsync)

/** Settles when the folder's entries are on disk, so that files created in it survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder like this, and NTFS journals directory entries itself.
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
  try {
    await syncAll(fd)
  } finally {
    closeSync(fd)
  }
}
