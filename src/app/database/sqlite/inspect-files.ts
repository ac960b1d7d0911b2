import { RefusedFiles } from '../../../platform/database/file-fault.ts'
import {
  type LastCheck,
  readLastCheck,
  writeLastCheck,
} from '../../../platform/database/last-check.ts'
import { checkFiles } from './check-files.ts'
import { type ClicksAfter, type Examination, examineFiles } from './examine-files.ts'

/** What is known of files that may be served. */
export type Inspected = {
  readonly examination: Examination
  /** Whether they have been checked in full just now. */
  readonly isChecked: boolean
  /** When the last full check without a fault began; minus infinity where there was none. */
  readonly lastCheckMs: number
}

/**
 * Makes sure before anything is written that the files of a folder belong together. A copy of a folder
 * whose last run did not end may have been made while that ran, so it is checked in full, as are files
 * in which a check has found damage.
 *
 * @throws {RefusedFiles} where they do not
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
  keep(dataDir, { startedMs, endedMs: Date.now(), isFull: true, faults: found })
  if (found.length > 0) throw new RefusedFiles(dataDir, found)
  return { examination, isChecked: true, lastCheckMs: startedMs }
}

function keep(dataDir: string, check: LastCheck): void {
  try {
    writeLastCheck(dataDir, check)
  } catch {
    // A full disk. The next check says the same.
  }
}
