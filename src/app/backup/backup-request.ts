import { readFileSync } from 'node:fs'
import { parseIdentities } from '../../backup/index.ts'
import type { Config } from '../config/read-config.ts'
import type { BackupRequest } from './make-backup.ts'

/** What a backup takes from the configuration. */
export type BackupSettings = Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKey' | 's3' | 'backup'>

/** Returns the request for a backup as configured, to a target. */
export function backupRequest(config: BackupSettings, target: string): BackupRequest {
  const { dataDir, databaseUrl, secretKey, s3, backup } = config
  const { recipients, retention, verifies, identityFile } = backup
  return {
    dataDir,
    databaseUrl,
    secretKey,
    s3,
    target,
    recipients,
    identities: readIdentities(identityFile),
    retention,
    verifies,
    takesOver: false,
  }
}

/**
 * Returns the identities in a file of `age-keygen`; none for no file.
 *
 * @throws when it has none
 */
export function readIdentities(file: string | undefined): readonly string[] {
  if (file === undefined) return []
  const identities = parseIdentities(readFileSync(file, 'utf8'))
  if (identities.length === 0) throw new Error(`${file} has no age identity (AGE-SECRET-KEY-…).`)
  return identities
}
