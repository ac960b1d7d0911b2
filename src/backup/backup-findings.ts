import type { Finding } from '../operations/index.ts'
import { terseCommand } from '../platform/process/terse-command.ts'
import type { Clock } from '../platform/time/clock.ts'
import { textOf } from '../storage/sqlite/errors.ts'
import { type BackupSettings, checkBackups, countDamagedBlocks, findPlaceFault } from './place.ts'
import {
  type BackupRecords,
  findBackupRecords,
  type MadeBackup,
  newestPlace,
  recordsOfPlace,
  targetLabel,
} from './records.ts'

const SUBJECT = 'backups'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** As the alerts: without a schedule, a backup that is older is reported. */
const UNSCHEDULED_AGE_MS_MAX = 48 * HOUR_MS
/** A failed backup is retried after ten minutes. */
const RETRY_MS = 10 * MINUTE_MS

/** What is checked. Plain data, so that another process can do it. */
export type ExaminedBackups = Pick<BackupSettings, 'dataDir' | 's3' | 'backup'>

/** Reports how old the last backup and the last verified one are, and whether the next can be stored. */
export async function backupFindings(
  { dataDir, s3, backup }: ExaminedBackups,
  clock: Clock,
): Promise<readonly Finding[]> {
  let records: BackupRecords | undefined
  try {
    records = findBackupRecords(dataDir)
  } catch (error) {
    return [{ subject: SUBJECT, state: 'skipped', text: `not checked: ${textOf(error)}` }]
  }
  const age = ageFinding(backup, records, clock.nowMicros() / 1_000)
  if (backup.target === undefined) return [age]
  return [age, ...(await placeFindings({ dataDir, s3, backup }, backup.target, records))]
}

async function placeFindings(
  examined: ExaminedBackups,
  target: string,
  records: BackupRecords | undefined,
): Promise<readonly Finding[]> {
  try {
    await checkBackups(examined)
  } catch (error) {
    const advice = 'Correct the settings of backups. The service does not start with these.'
    return [{ subject: SUBJECT, state: 'problem', text: textOf(error).replace(/\.$/, ''), advice }]
  }
  const fault = await findPlaceFault(target, examined.s3, { records })
  if (fault !== undefined) return [{ subject: SUBJECT, state: 'problem', ...fault }]
  const damaged = await countDamagedBlocks(target, examined.s3)
  if (damaged === undefined || damaged === 0) return []
  return [
    {
      subject: SUBJECT,
      state: 'warning',
      text: `${damaged} stored blocks in ${targetLabel(target)} are damaged`,
      advice: `Check its disk. Backups that need them are shown by: ${terseCommand(`restore ${target} --list`)}`,
    },
  ]
}

/** Judges the backups of the configured place; if none is configured, of the place that has the newest. */
export function ageFinding(
  { target, everyMs, verifies }: Pick<ExaminedBackups['backup'], 'target' | 'everyMs' | 'verifies'>,
  records: BackupRecords | undefined,
  nowMs: number,
): Finding {
  const label = target === undefined ? undefined : targetLabel(target)
  const place = label ?? (records && newestPlace(records))
  const made = records && place !== undefined ? recordsOfPlace(records, place) : undefined
  if (made === undefined) return noneMade(label)
  const { last, verified } = made
  const ageMsMax = label === undefined ? UNSCHEDULED_AGE_MS_MAX : 2 * everyMs + RETRY_MS
  const state = label === undefined ? 'warning' : 'problem'
  const text = `the last one was made ${instant(last)} in ${place}`
  const advice =
    label === undefined
      ? `Make one: ${terseCommand(`backup ${place} --verify`)}`
      : 'The log of the service says why: backup failed.'
  if (nowMs - last.consistentAtMs > ageMsMax) return { subject: SUBJECT, state, text, advice }
  if (!verifies) return { subject: SUBJECT, state: 'ok', text }
  if (verified === undefined) {
    return { subject: SUBJECT, state, text: `${text}; none was verified`, advice }
  }
  const both = `${text}, the last verified one ${instant(verified)}`
  if (nowMs - verified.consistentAtMs > ageMsMax) {
    return { subject: SUBJECT, state, text: both, advice }
  }
  return { subject: SUBJECT, state: 'ok', text: both }
}

function noneMade(label: string | undefined): Finding {
  if (label === undefined) {
    return {
      subject: SUBJECT,
      state: 'warning',
      text: 'none was made',
      advice: `Set TERSE_BACKUP_TO, or make one: ${terseCommand('backup /mnt/backup/terse --verify')}`,
    }
  }
  return {
    subject: SUBJECT,
    state: 'warning',
    text: `none was made in ${label} yet`,
    advice:
      'The service makes the first one when it starts. If it cannot, its log says why: backup failed.',
  }
}

function instant({ consistentAtMs }: MadeBackup): string {
  return new Date(consistentAtMs).toISOString()
}
