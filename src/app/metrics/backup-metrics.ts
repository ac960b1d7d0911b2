import { type MetricSource, plain } from '../../platform/metrics/metric.ts'
import { targetLabel } from '../backup/backup-place.ts'
import {
  findBackupRecords,
  type MadeBackup,
  newestPlace,
  recordsOfPlace,
} from '../backup/backup-records.ts'
import type { Config } from '../config/read-config.ts'

/**
 * The backups of the configured place, 0 for a kind that was never made. Without a configured
 * place, the backups of the place that has the newest one, or none.
 */
export function backupMetrics({
  dataDir,
  backup,
}: Pick<Config, 'dataDir' | 'backup'>): MetricSource {
  return () => {
    const records = findBackupRecords(dataDir)
    const isMade = backup.target !== undefined
    const place = isMade ? targetLabel(backup.target) : records && newestPlace(records)
    const made = records && place !== undefined ? recordsOfPlace(records, place) : undefined
    return [
      plain(
        'gauge',
        'terse_backup_last_timestamp_seconds',
        'When the last backup was made in the configured place; 0 for never.',
        secondsOf(made?.last, isMade),
      ),
      plain(
        'gauge',
        'terse_backup_last_verified_timestamp_seconds',
        'When the last backup in the configured place was made that has been restored and compared; 0 for never.',
        secondsOf(made?.verified, isMade && backup.verifies),
      ),
    ]
  }
}

function secondsOf(made: MadeBackup | undefined, isExpected: boolean): number | undefined {
  if (made !== undefined) return made.consistentAtMs / 1_000
  return isExpected ? 0 : undefined
}
