import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import path from 'node:path'
import {
  type BackupCipher,
  type BackupContent,
  type BackupTarget,
  readBlocks,
} from '../../backup/index.ts'
import { createFolder } from '../../platform/disk/create-folder.ts'

/**
 * Writes all files of a backup to a folder, and verifies each by its hash.
 *
 * @param source.isEncrypted whether blocks are to be decrypted
 * @throws when a file is damaged or incomplete in the target
 */
export async function writeRestoredFiles(
  source: {
    readonly target: BackupTarget
    readonly cipher: BackupCipher
    readonly isEncrypted: boolean
  },
  content: BackupContent,
  folder: string,
): Promise<void> {
  const { target, cipher, isEncrypted } = source
  const decrypt = isEncrypted ? (bytes: Uint8Array) => cipher.decrypt(bytes) : undefined
  for (const file of content.files) {
    const to = path.join(folder, file.path)
    createFolder(path.dirname(to))
    const fd = openSync(to, 'wx', 0o600)
    try {
      for await (const bytes of readBlocks({ target, decrypt }, file)) {
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
      }
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
}
