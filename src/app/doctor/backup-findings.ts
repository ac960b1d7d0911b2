import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'
import { BackupCatalog, openTarget } from '../../backup/index.ts'
import type { Finding } from '../../operations/doctor/finding.ts'
import { textOf } from '../../platform/database/sqlite/errors.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type BackupRecords, findBackupRecords } from '../backup/backup-records.ts'
import { targetLabel } from '../backup/target-label.ts'
import type { Config } from '../config/read-config.ts'

const SUBJECT = 'backups'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** As the alerts: without a schedule, a backup that is older is reported. */
const UNSCHEDULED_AGE_MS_MAX = 48 * HOUR_MS
/** A failed backup is retried after ten minutes. */
const RETRY_MS = 10 * MINUTE_MS
/** Below the time that the dashboard grants all checks. */
const TARGET_TIMEOUT_MS = 5_000

/** What is checked. Plain data, so that another process can do it. */
export type ExaminedBackups = Pick<Config, 'dataDir' | 's3'> & {
  readonly backup: Pick<Config['backup'], 'target' | 'everyMs' | 'verifies'>
}

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
  const fault = await targetFault(backup.target, s3, records)
  return fault === undefined ? [age] : [age, fault]
}

/** Judges the backups of the configured place, or of any if none is configured. */
export function ageFinding(
  { target, everyMs, verifies }: ExaminedBackups['backup'],
  records: BackupRecords | undefined,
  nowMs: number,
): Finding {
  const label = target === undefined ? undefined : targetLabel(target)
  const inPlace = (made: BackupRecords['last']) =>
    label === undefined || made?.target === label ? made : undefined
  const last = inPlace(records?.last)
  const verified = inPlace(records?.verified)
  if (last === undefined) return noneMade(label)
  const ageMsMax = label === undefined ? UNSCHEDULED_AGE_MS_MAX : 2 * everyMs + RETRY_MS
  const state = label === undefined ? 'warning' : 'problem'
  const text = `the last one was made ${instant(last)} in ${last.target}`
  const advice =
    label === undefined
      ? `Make one: ${terseCommand(`backup ${last.target} --verify`)}`
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

function instant({ consistentAtMs }: { readonly consistentAtMs: number }): string {
  return new Date(consistentAtMs).toISOString()
}

/** Returns why the next backup cannot be stored, or undefined. Changes nothing. */
async function targetFault(
  address: string,
  s3: Config['s3'],
  records: BackupRecords | undefined,
): Promise<Finding | undefined> {
  const problem = (text: string, advice: string): Finding => {
    return { subject: SUBJECT, state: 'problem', text, advice }
  }
  const label = targetLabel(address)
  try {
    const target = await openTarget(address, s3)
    const owner = await inTime(new BackupCatalog(target).owner(), label)
    if (target.workFolder !== undefined) accessSync(existingFolder(label), constants.W_OK)
    if (owner === undefined && records?.last?.target === label) {
      return problem(`the backups in ${label} are gone`, 'Check that its disk is mounted.')
    }
    if (owner === undefined || owner === records?.dataFolder) return undefined
    return problem(
      `${label} has the backups of another data folder`,
      `Set TERSE_BACKUP_TO to a place of its own, or take it over: ${terseCommand(`backup ${address} --take-over`)}`,
    )
  } catch (error) {
    return problem(
      `${label} cannot be used: ${textOf(error)}`,
      'Check that it can be reached, and that the user of the service can write there.',
    )
  }
}

/** The nearest folder that exists: a backup creates those that are missing. */
function existingFolder(folder: string): string {
  return existsSync(folder) ? folder : existingFolder(path.dirname(folder))
}

async function inTime<T>(work: Promise<T>, label: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`${label} did not answer in ${TARGET_TIMEOUT_MS / 1_000} s`))
  }, TARGET_TIMEOUT_MS)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
