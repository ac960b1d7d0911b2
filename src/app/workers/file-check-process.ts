import { constants, setPriority } from 'node:os'
import { checkFiles, type FileCheck } from '../database/sqlite/check-files.ts'

/** What a process that checks the files of a data folder is asked for. It answers with their faults. */
export type FileCheckRequest = { readonly dataDir: string; readonly check: FileCheck }

/*
 * A process rather than a thread: SQLite reads a large file for minutes in one call, which nothing can
 * interrupt, and a process waits for its threads before it ends.
 */
setPriority(constants.priority.PRIORITY_LOW)
process.once('message', ({ dataDir, check }: FileCheckRequest) => {
  process.send?.(checkFiles(dataDir, check), undefined, undefined, () => process.disconnect?.())
})
