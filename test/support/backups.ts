import path from 'node:path'
import { type BackupRequest, makeBackup } from '../../src/app/backup/make-backup.ts'
import { type RestoreRequest, restoreBackup } from '../../src/app/backup/restore-backup.ts'

/** Makes a backup in this process; options that are not given are those of the command without options. */
export function backUp(
  request: Pick<BackupRequest, 'dataDir' | 'target'> & Partial<BackupRequest>,
) {
  return makeBackup({
    databaseUrl: undefined,
    secretKey: undefined,
    s3: undefined,
    recipients: [],
    identityFile: undefined,
    retention: undefined,
    verifies: false,
    takesOver: false,
    ...request,
  })
}

/** Restores the newest backup into a folder beside the target, in this process. */
export function restoreInto(
  request: Pick<RestoreRequest, 'dataDir' | 'source'> & Partial<RestoreRequest>,
) {
  return restoreBackup({
    name: undefined,
    databaseUrl: undefined,
    secretKey: undefined,
    s3: undefined,
    identityFile: undefined,
    skipNumbers: async () => {},
    ...request,
    dataDir: path.resolve(request.dataDir),
  })
}
