import type { Logger } from 'pino'
import type { Job } from '../platform/work/polling-job.ts'
import type { BackupReport, BackupRequest } from './make-backup.ts'
import type { BackupSettings } from './place.ts'
import { findBackupRecords, recordsOfPlace, targetLabel } from './records.ts'

const FIRST_DELAY_MS = 5_000
const LOOK_INTERVAL_MS = 60_000
const RETRY_MS = 10 * 60 * 1_000
/** How many damaged blocks one log line names. */
const NAMED_MAX = 10
const MIB = 1024 * 1024

/**
 * Makes a backup whenever the last one is older than configured, also of one that was made by the command line.
 * A place that cannot be used is logged at once, also when no backup is due. A backup that fails is retried after ten minutes, or later if backups are made less often.
 */
export function startBackups({
  config,
  log,
  runBackup,
  firstDelayMs = FIRST_DELAY_MS,
}: {
  readonly config: BackupSettings
  readonly log: Logger
  /** Makes a backup, in a process of its own. */
  readonly runBackup: (request: BackupRequest, stop: AbortSignal) => Promise<BackupReport>
  readonly firstDelayMs?: number
}): Job {
  const { target, everyMs } = config.backup
  if (target === undefined) return { stop: async () => {} }
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let retryAtMs = Number.NEGATIVE_INFINITY

  async function warnOfPlace(to: string): Promise<void> {
    const { findPlaceFault } = await import('./place.ts')
    const records = findBackupRecords(config.dataDir)
    const stop = stopping.signal
    const fault = await findPlaceFault(to, config.s3, { records, stop })
    if (fault === undefined || stop.aborted) return
    log.warn(
      { target: targetLabel(to), reason: fault.text, advice: fault.advice },
      'backup place cannot be used',
    )
  }

  function isDue(to: string): boolean {
    const records = findBackupRecords(config.dataDir)
    const last = records && recordsOfPlace(records, targetLabel(to))?.last
    const nowMs = Date.now()
    // A clock that was set back must not stop the backups.
    const isRecent = last !== undefined && Math.abs(nowMs - last.consistentAtMs) < everyMs
    return !isRecent && nowMs >= retryAtMs
  }

  async function work(to: string): Promise<void> {
    const startedMs = Date.now()
    try {
      const { backupRequest } = await import('./make-backup.ts')
      const report = await runBackup(backupRequest(config, to), stopping.signal)
      if (report.repaired.length > 0) {
        const { length: count } = report.repaired
        log.warn(
          { backup: report.name, target: to, count, blocks: report.repaired.slice(0, NAMED_MAX) },
          'damaged blocks of backups written again',
        )
      }
      log.info(
        {
          backup: report.name,
          seconds: (Date.now() - startedMs) / 1_000,
          storedMiB: Math.round(report.storedBytes / MIB),
          newMiB: Math.round(report.writtenBytes / MIB),
          verified: report.isVerified,
          removed: report.removed.length,
        },
        'backup made',
      )
    } catch (error) {
      if (stopping.signal.aborted) return
      retryAtMs = Date.now() + Math.min(everyMs, RETRY_MS)
      log.error({ err: error }, 'backup failed')
    }
  }

  function look(to: string): void {
    if (running !== undefined || !isDue(to)) return
    running = work(to).finally(() => {
      running = undefined
    })
  }

  const warning = warnOfPlace(target).catch((error) => {
    log.warn({ err: error, target: targetLabel(target) }, 'backup place cannot be used')
  })
  const first = setTimeout(() => look(target), firstDelayMs)
  const later = setInterval(() => look(target), Math.min(LOOK_INTERVAL_MS, everyMs))
  first.unref()
  later.unref()
  return {
    async stop() {
      clearTimeout(first)
      clearInterval(later)
      stopping.abort()
      await running
      await warning
    },
  }
}
