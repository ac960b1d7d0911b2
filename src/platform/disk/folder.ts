import { randomBytes } from 'node:crypto'
import { closeSync, constants, fsync, mkdirSync, openSync, statSync } from 'node:fs'
import { access, open } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/**
 * Creates a folder that only its owner can access, and its missing parents. Node's own `recursive` option
 * never returns on file systems that refuse a folder with ENOENT, as /proc does.
 */
export function createFolder(folder: string): void {
  if (isFolder(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) createFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
}

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

/** Why nothing can be written to a folder, or to the disk under it. */
export type FolderFault = 'full' | 'read_only' | 'missing' | 'failing' | 'replaced'

const FAULTS: ReadonlyMap<unknown, FolderFault> = new Map([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EROFS', 'read_only'],
  ['EACCES', 'read_only'],
  ['EPERM', 'read_only'],
  ['ENOENT', 'missing'],
  ['ENOTDIR', 'missing'],
  ['EIO', 'failing'],
  ['ESTALE', 'replaced'],
])

/** Maps a file system error to the fault of the folder; undefined for errors with other causes. */
export function folderFaultOf(error: unknown): FolderFault | undefined {
  return error instanceof Error && 'code' in error ? FAULTS.get(error.code) : undefined
}

/** Returns one or two sentences for operators, which name the folder. */
export function folderFaultText(fault: FolderFault, folder: string): string {
  if (fault === 'full') {
    return `The disk of the folder ${folder} is full. Nothing can be stored until there is room.`
  }
  if (fault === 'read_only') {
    return `The folder ${folder} is read-only. Nothing can be stored until the service may write to it.`
  }
  if (fault === 'missing')
    return `The folder ${folder} is missing. Nothing can be stored without it.`
  if (fault === 'replaced') {
    return `A file in the folder ${folder} was removed or replaced while the service had it open. Nothing can be stored until it is back, or the service was restarted.`
  }
  return `The disk of the folder ${folder} fails to read or write.`
}

const PROBE_BYTES = 4096

/**
 * Tests whether the folder can be written to. The probe file stays and is left empty: deleting it could make
 * a program fail that copies the folder, and a file that kept its block could be rewritten on a full disk.
 *
 * @returns the fault, or undefined if the folder can be written to
 * @throws for errors that are not faults of the folder, such as too many open files
 */
export async function probeFolder(folder: string): Promise<FolderFault | undefined> {
  try {
    // Checked first, because the owner may write the file even in a read-only folder.
    await access(folder, constants.W_OK | constants.X_OK)
    await fillAndEmpty(path.join(folder, 'write-probe'))
    return undefined
  } catch (error) {
    const fault = folderFaultOf(error)
    if (fault === undefined) throw error
    return fault
  }
}

async function fillAndEmpty(file: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    await handle.writeFile(randomBytes(PROBE_BYTES))
  } finally {
    // Only the result of the write matters.
    await handle.truncate(0).catch(() => {})
    await handle.close()
  }
}
