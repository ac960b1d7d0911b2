import { terseCommand } from '../process/terse-command.ts'

/** What is wrong with the files of a data folder. */
export type FileFault = {
  /** Relative to the data folder. */
  readonly file: string
  /**
   * - `damaged`: the file cannot be read, or its structure does not hold
   * - `miscounted`: sums that every transaction keeps equal differ
   * - `missing`: another file says that it was there
   * - `older`: another file has seen what this one does not have
   */
  readonly kind: 'damaged' | 'miscounted' | 'missing' | 'older'
  /** What was found, as a sentence without its end. */
  readonly text: string
}

export const LINKS_FILE = 'terse.db'
export const CLICKS_FILE = 'clicks.db'
/** The folder of the raw clicks' files. */
export const DAYS_FOLDER = 'clicks'

/** The files of a data folder are damaged, or do not belong together. Nothing was changed. */
export class RefusedFiles extends Error {
  override readonly name = 'RefusedFiles'
  readonly faults: readonly FileFault[]

  constructor(dataDir: string, faults: readonly FileFault[]) {
    const [first] = faults
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
    super(
      `The files in ${dataDir} are damaged or from different moments: ${first?.file}: ${first?.text}${more}. ${filesAdvice()}`,
    )
    this.faults = faults
  }
}

export function filesAdvice(): string {
  return (
    'Nothing was changed. Replace the whole data folder (terse.db, clicks.db, clicks/, journal/, each with its -wal file) by ' +
    'one backup that was taken while the service was stopped, or by a snapshot of the file system. ' +
    `Without one, "${terseCommand('repair')}" shows what can be saved of these files and what is lost.`
  )
}
