import type { Command } from 'commander'
import type { ZodType } from 'zod'
import type { Config, Environment } from '../config/read-config.ts'
import { retention, timeSpan } from '../config/setting-schemas.ts'
import { parseWith } from './parse-with.ts'

/** The texts of the options about backups that `terse serve` was called with. */
export type BackupOptions = {
  readonly backupTo?: string
  readonly every?: string
  readonly keep?: string
}

export function addBackupOptions(command: Command): Command {
  return command
    .option(
      '--backup-to <place>',
      'back up to this folder or s3://bucket/prefix while serving (default: TERSE_BACKUP_TO, or no backups)',
    )
    .option(
      '--every <time>',
      'the time between two backups, such as 6h (default: TERSE_BACKUP_EVERY, or 6h)',
      checkedBy(timeSpan),
    )
    .option(
      '--keep <list>',
      'which backups are kept, such as 24h,14d,8w,12m (default: TERSE_BACKUP_KEEP, or 24h,14d,8w,12m)',
      checkedBy(retention),
    )
}

function checkedBy(schema: ZodType<unknown, string>): (text: string) => string {
  const parse = parseWith(schema)
  return (text) => {
    parse(text)
    return text
  }
}

/** Returns the settings that the options set. Worker processes read them from their environment. */
export function backupSettings({ backupTo, every, keep }: BackupOptions): Environment {
  return {
    ...(backupTo !== undefined && { TERSE_BACKUP_TO: backupTo }),
    ...(every !== undefined && { TERSE_BACKUP_EVERY: every }),
    ...(keep !== undefined && { TERSE_BACKUP_KEEP: keep }),
  }
}

/** @throws where an option would have no effect, because no backups are made */
export function requirePlace(
  { every, keep }: BackupOptions,
  { backup }: Pick<Config, 'backup'>,
): void {
  if (backup.target !== undefined || (every ?? keep) === undefined) return
  throw new Error('Name where backups go: --backup-to, or the setting TERSE_BACKUP_TO.')
}
