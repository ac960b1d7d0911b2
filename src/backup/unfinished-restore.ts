import { existsSync } from 'node:fs'
import path from 'node:path'

/** The subfolder in which a restore works. While it exists, the data folder is incomplete. */
export function restoringFolder(dataDir: string): string {
  return path.join(dataDir, 'restoring')
}

/**
 * Refuses a data folder into which a restore was begun and not finished.
 *
 * @throws with what to do
 */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!existsSync(restoringFolder(dataDir))) return
  throw new Error(
    `A backup is being restored into ${dataDir}, or its restore was cut off. Run the same "terse restore" again. To start again, empty the folder.`,
  )
}
