import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import path from 'node:path'
import { type FolderFault, folderFaultOf } from './folder-fault.ts'

const PROBE_BYTES = 4096

/**
 * Tries to write to the folder. The file that this makes stays, empty: one that comes and goes would
 * make programs fail that copy the folder, and one that keeps its block would find room on a full disk.
 *
 * @returns what is in the way, or undefined where nothing is
 * @throws where it failed for a reason that says nothing about the folder, such as too many open files
 */
export async function probeFolder(folder: string): Promise<FolderFault | undefined> {
  try {
    // Before the file itself, which its owner may write even where the folder is read-only.
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
    // What the write reports is what counts.
    await handle.truncate(0).catch(() => {})
    await handle.close()
  }
}
