import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { terseCommand } from '../platform/process/terse-command.ts'

/** A fault in one file of a data folder. */
export type FileFault = {
  /** Relative to the data folder. */
  readonly file: string
  /**
   * - `damaged`: the file cannot be read, or its structure is inconsistent
   * - `miscounted`: two sums differ that every transaction keeps equal
   * - `missing`: another file refers to it
   * - `older`: another file refers to data that this file does not contain
   */
  readonly kind: 'damaged' | 'miscounted' | 'missing' | 'older'
  /** The fault as a sentence without its full stop. */
  readonly text: string
}

export const LINKS_FILE = 'terse.db'
export const CLICKS_FILE = 'clicks.db'
/** The folder that holds the raw click files. */
export const DAYS_FOLDER = 'clicks'

/**
 * Thrown when the files of a data folder are damaged or come from different points in time. Nothing
 * was changed.
 */
export class RefusedFiles extends Error {
  override readonly name = 'RefusedFiles'
  readonly faults: readonly FileFault[]

  constructor(dataDir: string, faults: readonly FileFault[]) {
    const [first] = faults
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
    super(
      `The files in ${dataDir} are damaged or from different points in time: ${first?.file}: ${first?.text}${more}. ${filesAdvice()}`,
    )
    this.faults = faults
  }
}

export function filesAdvice(): string {
  return (
    'Nothing was changed. Move the whole data folder away. Then restore the last backup into an empty folder, or put a complete copy there: one of a stopped service, or of a snapshot of the file system. ' +
    `Without either, "${terseCommand('repair')}" shows what can be recovered from these files and what is lost.`
  )
}

/** The result of the last check of a data folder's files. */
export type LastCheck = {
  readonly startedMs: number
  readonly endedMs: number
  /** As in `FileCheck`. */
  readonly isFull: boolean
  readonly faults: readonly FileFault[]
}

const NAME = 'file-check.json'

/** Returns undefined when no check has run, or its stored result cannot be read. */
export function readLastCheck(dataDir: string): LastCheck | undefined {
  try {
    const check = JSON.parse(readFileSync(path.join(dataDir, NAME), 'utf8'))
    return Array.isArray(check.faults) ? check : undefined
  } catch {
    return undefined
  }
}

export function writeLastCheck(dataDir: string, check: LastCheck): void {
  const file = path.join(dataDir, NAME)
  const temporaryFile = `${file}.${process.pid}`
  writeFileSync(temporaryFile, JSON.stringify(check), { mode: 0o600 })
  renameSync(temporaryFile, file)
}
