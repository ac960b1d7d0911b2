import type { Config } from '../config/config.ts'
import type { BackupRequest } from './make-backup.ts'

/** What a backup takes from the configuration. */
export type BackupSettings = Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKey' | 's3' | 'backup'>

/** Returns the request for a backup as configured, to a target. */
export function backupRequest(config: BackupSettings, target: string): BackupRequest {
  const { dataDir, databaseUrl, secretKey, s3, backup } = config
  const { recipients, retention, verifies, identityFile, signingKeyFile } = backup
  return {
    dataDir,
    databaseUrl,
    secretKey,
    s3,
    target,
    recipients,
    identityFile,
    signingKeyFile,
    retention,
    verifies,
    takesOver: false,
  }
}
