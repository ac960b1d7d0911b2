import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import path from 'node:path'
import { type BackupContent, type BlockSource, NoRoom, readBlocks } from '../../backup/index.ts'
import { createFolder } from '../../platform/disk/folder.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'

/**
 * Writes all files of a backup to a folder, and verifies each by its hash.
 *
 * @throws {DamagedBackup} when a file is damaged or incomplete in the target
 * @throws {NoRoom} when the disk of the folder is full
 */
export async function writeRestoredFiles(
  source: BlockSource,
  content: BackupContent,
  folder: string,
): Promise<void> {
  for (const file of content.files) {
    const to = path.join(folder, file.path)
    try {
      createFolder(path.dirname(to))
      const fd = openSync(to, 'wx', 0o600)
      try {
        for await (const bytes of readBlocks(source, file)) {
          for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
        }
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      throw hasErrorCode(error, 'ENOSPC') || hasErrorCode(error, 'EDQUOT') ? new NoRoom(to) : error
    }
  }
}
