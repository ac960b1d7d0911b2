import { type BackupTarget, NoRoom } from '../../backup/index.ts'
import { readDiskSpace } from '../../platform/disk/disk-space.ts'
import { createFolder } from '../../platform/disk/folder.ts'
import { Failure } from '../../platform/failure.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { sqliteFolderFault } from '../../storage/sqlite/errors.ts'

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

/** Whether an error says that a disk is full. */
export function isNoRoom(error: unknown): boolean {
  if (error instanceof Failure) return isNoRoom(error.cause)
  return (
    error instanceof NoRoom ||
    sqliteFolderFault(error) === 'full' ||
    hasErrorCode(error, 'ENOSPC') ||
    hasErrorCode(error, 'EDQUOT')
  )
}
