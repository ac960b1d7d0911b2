import { openTarget } from '../../backup/index.ts'
import { openBackupKeys } from './backup-keys.ts'
import { refuseOwnFolder } from './backup-place.ts'
import type { BackupSettings } from './backup-request.ts'

/**
 * Checks whether backups can be made as configured, as far as that does not depend on the place being available.
 *
 * @throws when they cannot, with what to do
 */
export async function checkBackups({
  dataDir,
  s3,
  backup,
}: Pick<BackupSettings, 'dataDir' | 's3' | 'backup'>): Promise<void> {
  if (backup.target === undefined) return
  refuseOwnFolder(dataDir, backup.target)
  await openTarget(backup.target, s3)
  await openBackupKeys(backup)
}
