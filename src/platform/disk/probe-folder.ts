import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import path from 'node:path'
import { type FolderFault, folderFaultOf } from './folder-fault.ts'

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
