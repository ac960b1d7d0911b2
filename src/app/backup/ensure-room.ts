import type { BackupTarget } from '../../backup/index.ts'
import { NoRoom } from '../../backup/index.ts'
import { createFolder } from '../../platform/disk/create-folder.ts'
import { readDiskSpace } from '../../platform/disk/disk-space.ts'

/**
 * Ensures that the disk of the working folder has room for a copy.
 *
 * @throws {NoRoom} when it has not, or a service that shares the disk would have too little left
 */
export async function ensureRoom({
  target,
  workFolder,
  bytes,
}: {
  readonly target: BackupTarget
  readonly workFolder: string
  readonly bytes: number
}): Promise<void> {
  if (target.workFolder !== undefined) return target.ensureRoom(bytes)
  createFolder(workFolder)
  const { freeBytes, reserveNeedsBytes } = await readDiskSpace(workFolder)
  if (freeBytes < bytes + reserveNeedsBytes) throw new NoRoom(workFolder)
}
