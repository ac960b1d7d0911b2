import { checkFiles } from '../../../data-files/check-files.ts'
import {
  type ClicksAfter,
  type Examination,
  examineFiles,
} from '../../../data-files/examine-files.ts'
import {
  type LastCheck,
  RefusedFiles,
  readLastCheck,
  writeLastCheck,
} from '../../../storage/file-fault.ts'

/** The result of inspecting files that may be served. */
export type Inspected = {
  readonly examination: Examination
  /** Whether a full check has just passed. */
  readonly isChecked: boolean
  /** When the last full check without a fault began; minus infinity when there was none. */
  readonly lastCheckMs: number
}

/**
 * Verifies, before anything is written, that the files of a folder belong together. Runs a full
 * check on a copy of a folder whose last run did not end, because it may have been copied while the
 * service ran, and on files in which the last check found faults.
 *
 * @throws {RefusedFiles} when they do not belong together or are damaged
 */
export function inspectFiles({
  dataDir,
  clicksAfter,
  onLongCheck,
}: {
  readonly dataDir: string
  readonly clicksAfter?: ClicksAfter | undefined
  readonly onLongCheck?: (() => void) | undefined
}): Inspected {
  const examination = examineFiles(dataDir, clicksAfter)
  const { faults, isStopped, isCopy } = examination
  if (faults.length > 0) throw new RefusedFiles(dataDir, faults)
  const last = readLastCheck(dataDir)
  const mustBeChecked = (isCopy && !isStopped) || (last !== undefined && last.faults.length > 0)
  if (!mustBeChecked) {
    const isSound = last?.isFull && last.faults.length === 0
    return {
      examination,
      isChecked: false,
      lastCheckMs: isSound ? last.startedMs : Number.NEGATIVE_INFINITY,
    }
  }
  onLongCheck?.()
  const startedMs = Date.now()
  const found = checkFiles(dataDir, { isFull: true, daysSinceMs: 0 })
  save(dataDir, { startedMs, endedMs: Date.now(), isFull: true, faults: found })
  if (found.length > 0) throw new RefusedFiles(dataDir, found)
  return { examination, isChecked: true, lastCheckMs: startedMs }
}

function save(dataDir: string, check: LastCheck): void {
  try {
    writeLastCheck(dataDir, check)
  } catch {
    // For example a full disk. The next check finds the same.
  }
}
