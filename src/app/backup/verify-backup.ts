import { rmSync } from 'node:fs'
import path from 'node:path'
import {
  BackupCatalog,
  type BackupCipher,
  type BackupTarget,
  contentOf,
  DamagedBackup,
  NotSigned,
  type Signer,
} from '../../backup/index.ts'
import { checkRestored } from './check-restored.ts'
import { ensureRoom } from './ensure-room.ts'
import { writeRestoredFiles } from './write-restored-files.ts'

/**
 * Restores a backup from its target into a temporary folder, and checks it as a restore does.
 *
 * @throws {DamagedBackup} when what the target has is not what was backed up
 * @throws when it cannot be restored for another reason
 */
export async function verifyBackup(
  name: string,
  parts: {
    readonly target: BackupTarget
    readonly cipher: BackupCipher
    readonly signer: Signer | undefined
    readonly key: Buffer
    readonly workFolder: string
  },
): Promise<void> {
  const { target, cipher, signer, key, workFolder } = parts
  const folder = path.join(workFolder, 'verify')
  try {
    const manifest = await new BackupCatalog(target).read(name, signer)
    const content = await contentOf(manifest, cipher.decrypt)
    const bytes = content.files.reduce((sum, { size }) => sum + size, 0)
    await ensureRoom({ target, workFolder, bytes })
    const decrypt = 'encrypted' in manifest ? cipher.decrypt : undefined
    await writeRestoredFiles({ target, decrypt }, content, folder)
    await checkRestored(folder, content, key)
  } catch (error) {
    if (error instanceof DamagedBackup) throw error
    // The manifest reads back other than it was written.
    if (error instanceof NotSigned) throw new DamagedBackup(error.message)
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The backup ${name} could not be verified: ${reason}`, { cause: error })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
