import path from 'node:path'
import { openRestored } from '../../src/app/composition/backups.ts'
import { describeSettings } from '../../src/app/config/load-config.ts'
import { type BackupRequest, makeBackup } from '../../src/backup/make-backup.ts'
import { type RestoreRequest, restoreBackup } from '../../src/backup/restore-backup.ts'

/** Makes a backup in this process; options that are not given are those of the command without options. */
export function backUp(
  request: Pick<BackupRequest, 'dataDir' | 'target'> & Partial<BackupRequest>,
) {
  return makeBackup(
    {
      databaseUrl: undefined,
      secretKey: undefined,
      s3: undefined,
      recipients: [],
      identityFile: undefined,
      signingKeyFile: undefined,
      retention: undefined,
      verifies: false,
      takesOver: false,
      ...request,
    },
    openRestored,
  )
}

/** Restores the newest backup into a folder beside the target, in this process; accepts its settings. */
export async function restoreInto(
  request: Pick<RestoreRequest, 'dataDir' | 'source'> & Partial<RestoreRequest>,
) {
  const report = await restoreBackup({
    name: undefined,
    databaseUrl: undefined,
    secretKey: undefined,
    s3: undefined,
    identityFile: undefined,
    signedByFile: undefined,
    skipNumbers: async () => {},
    acceptsSettings: async () => true,
    describeSettings,
    openRestored,
    ...request,
    dataDir: path.resolve(request.dataDir),
  })
  if (report === undefined) throw new Error('the settings were not accepted')
  return report
}
