import path from 'node:path'
import type { BackupOptions } from '../../backup/commands/backup.ts'
import type { RestoreOptions } from '../../backup/commands/restore.ts'
import type { ReplayedJournal } from '../../operations/commands/journal.ts'
import type { RepairReport } from '../../operations/commands/repair.ts'
import type { Finding } from '../../operations/doctor/finding.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { openConfig } from './open-config.ts'
import { withInstance } from './with-instance.ts'

// Each function imports its own code: every process loads all commands and runs one of them.

/** Checks a host, or the whole instance when no host is given. */
export async function diagnose(host: string | undefined): Promise<readonly Finding[]> {
  const { config } = openConfig()
  if (host === undefined) {
    const { diagnoseInstance, examinedOf } = await import('../doctor/diagnose-instance.ts')
    return diagnoseInstance(examinedOf(config), systemClock())
  }
  const { diagnoseHost } = await import('../doctor/diagnose-host.ts')
  return diagnoseHost(config, host, systemClock())
}

/** Checks the files of the data folder; repairs them when `execute` is true. */
export async function repair(execute: boolean): Promise<RepairReport> {
  const { repairDataFolder } = await import('../instance/repair.ts')
  return repairDataFolder(openConfig().config, execute)
}

/** Makes a backup as configured, except for the given options. */
export async function backup(target: string | undefined, options: BackupOptions) {
  const { config } = openConfig()
  const to = target ?? config.backup.target
  if (to === undefined) throw new Error('Name a folder or a bucket, or set TERSE_BACKUP_TO.')
  const { runBackup } = await import('../backup/run-backup.ts')
  const { backupRequest } = await import('../backup/backup-request.ts')
  const { recipient, identity, signingKey, keep: retention } = options
  const report = await runBackup({
    ...backupRequest(config, to),
    retention,
    verifies: options.verify,
    takesOver: options.takeOver,
    ...(recipient && { recipients: recipient }),
    ...(identity !== undefined && { identityFile: path.resolve(identity) }),
    ...(signingKey !== undefined && { signingKeyFile: path.resolve(signingKey) }),
  })
  return { ...report, target: to }
}

/** Lists the backups of a target. */
export async function list(source: string, signedByFile: string | undefined) {
  const { listBackups } = await import('../backup/restore-backup.ts')
  return listBackups(source, { s3: openConfig().config.s3, signedByFile })
}

/** Restores a backup into the configured data folder. */
export async function restore(source: string, options: RestoreOptions) {
  const { config } = openConfig()
  const { dataDir, databaseUrl, secretKey, s3 } = config
  const { restoreBackup } = await import('../backup/restore-backup.ts')
  const { skipRestoredNumbers } = await import('../backup/skip-restored-numbers.ts')
  const report = await restoreBackup({
    source,
    name: options.at,
    dataDir,
    databaseUrl,
    secretKey,
    s3,
    identityFile: options.identity ?? config.backup.identityFile,
    signedByFile: options.signedBy,
    acceptsSettings: options.acceptsSettings,
    skipNumbers: (folder, count) => skipRestoredNumbers(config, folder, count),
  })
  return report && { ...report, dataDir }
}

/** Ingests the clicks in the journals of a folder, as `replayJournals`. */
export async function replay(
  folder: string,
  includesUnknown: boolean,
): Promise<readonly ReplayedJournal[]> {
  const { replayJournals } = await import('../instance/replay.ts')
  return withInstance((instance, { config, log }) =>
    replayJournals(config, instance, folder, {
      includesUnknown,
      onError: (error) => log.warn({ err: error }, 'journal replay error'),
    }),
  )
}
