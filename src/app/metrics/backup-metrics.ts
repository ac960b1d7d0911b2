import { type MetricSource, plain } from '../../platform/metrics/metric.ts'
import { type BackupRecords, findBackupRecords } from '../backup/backup-records.ts'
import type { Config } from '../config/read-config.ts'

/** 0 for a backup that is configured and was never made; missing when none is configured. */
export function backupMetrics({
  dataDir,
  backup,
}: Pick<Config, 'dataDir' | 'backup'>): MetricSource {
  return () => {
    const records = findBackupRecords(dataDir)
    const isMade = backup.target !== undefined
    return [
      plain(
        'gauge',
        'terse_backup_last_timestamp_seconds',
        'When the last backup was made; 0 for never.',
        secondsOf(records?.last, isMade),
      ),
      plain(
        'gauge',
        'terse_backup_last_verified_timestamp_seconds',
        'When the last backup was made that has been restored and compared; 0 for never.',
        secondsOf(records?.verified, isMade && backup.verifies),
      ),
    ]
  }
}

function secondsOf(made: BackupRecords['last'], isExpected: boolean): number | undefined {
  if (made !== undefined) return made.consistentAtMs / 1_000
  return isExpected ? 0 : undefined
}
