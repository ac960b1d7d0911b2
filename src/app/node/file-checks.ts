import type { Logger } from 'pino'
import type { FileCheck } from '../../data-files/check-files.ts'
import type { Job } from '../../platform/work/polling-job.ts'
import { type FileFault, readLastCheck, writeLastCheck } from '../../storage/file-fault.ts'
import type { Config } from '../config/config.ts'
import { runTask } from '../workers/run-task.ts'

const FIRST_DELAY_MS = 2_000
const LOOK_INTERVAL_MS = 10 * 60 * 1_000

/** The result of the last check of the data folder's files, by any process of the service. */
export type FileHealth = {
  /** The files that the last check found damaged. */
  damagedFiles(): readonly string[]
  /** Seconds since the last check; undefined when there was none. */
  ageSeconds(): number | undefined
}

/** @returns undefined where the data is in PostgreSQL */
export function openFileHealth({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): FileHealth | undefined {
  if (databaseUrl !== undefined) return undefined
  return {
    damagedFiles: () => filesOf(readLastCheck(dataDir)?.faults ?? []),
    ageSeconds() {
      const last = readLastCheck(dataDir)
      return last && Math.max(0, (Date.now() - last.endedMs) / 1_000)
    },
  }
}

/**
 * Checks the files of the data folder in a process of low priority: in full when the last run ended by
 * a crash, when the folder is a copy, and when there was damage; otherwise every `fileCheckMs`. The result
 * is stored in the data folder. A node keeps running with damaged files; the next start refuses them.
 *
 * @param parts.uncheckedSinceMs as in `OpenedStore`
 */
export function startFileChecks(parts: {
  config: Pick<Config, 'dataDir' | 'fileCheckMs'>
  uncheckedSinceMs: number | undefined
  log: Logger
  /** 2 s when left out, because the start of the service comes first. */
  firstDelayMs?: number
}): Job {
  const { log, uncheckedSinceMs = Number.NEGATIVE_INFINITY, firstDelayMs = FIRST_DELAY_MS } = parts
  const { dataDir, fileCheckMs } = parts.config
  const stopping = new AbortController()
  let isChecking = false

  /** Returns the check that is due; undefined for none. */
  function dueCheck(): (FileCheck & { isFirst: boolean }) | undefined {
    const last = readLastCheck(dataDir)
    const isUnchecked = Number.isFinite(uncheckedSinceMs) && !isCovered(last, uncheckedSinceMs)
    if (!isUnchecked && last !== undefined && Date.now() - last.startedMs < fileCheckMs) {
      return undefined
    }
    const isFull = isUnchecked || (last?.faults.length ?? 0) > 0
    return { isFull, daysSinceMs: last?.startedMs ?? 0, isFirst: last === undefined && !isFull }
  }

  async function work(): Promise<void> {
    const check = dueCheck()
    if (check === undefined || isChecking || stopping.signal.aborted) return
    const startedMs = Date.now()
    isChecking = true
    try {
      const faults = await runTask(
        'fileCheck',
        { dataDir, check },
        { stop: stopping.signal, isBackground: true },
      )
      const endedMs = Date.now()
      for (const { file, text } of faults) log.error({ file, fault: text }, 'data file damaged')
      // A new folder's first check would only hide what its start has shown in the terminal.
      log[check.isFirst ? 'debug' : 'info'](
        { full: check.isFull, faults: faults.length, seconds: (endedMs - startedMs) / 1_000 },
        'data files checked',
      )
      writeLastCheck(dataDir, { startedMs, endedMs, isFull: check.isFull, faults })
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, 'data file check failed')
    } finally {
      isChecking = false
    }
  }

  if (fileCheckMs === 0) return { stop: async () => {} }
  const first = setTimeout(work, firstDelayMs)
  const later = setInterval(work, LOOK_INTERVAL_MS)
  first.unref()
  later.unref()
  return {
    async stop() {
      clearTimeout(first)
      clearInterval(later)
      stopping.abort()
    },
  }
}

function isCovered(last: ReturnType<typeof readLastCheck>, sinceMs: number): boolean {
  return last?.isFull === true && last.startedMs >= sinceMs
}

function filesOf(faults: readonly FileFault[]): readonly string[] {
  return [...new Set(faults.map(({ file }) => file))]
}
