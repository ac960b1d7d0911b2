import { constants, setPriority } from 'node:os'
import { checkFiles, type FileCheck } from '../../data-files/check-files.ts'

/** The request to a process that checks the files of a data folder. It answers with their faults. */
export type FileCheckRequest = { readonly dataDir: string; readonly check: FileCheck }

/*
 * A process rather than a thread: SQLite checks a large file for minutes in one call that cannot be
 * interrupted, and a process waits for its threads before it ends.
 */
setPriority(constants.priority.PRIORITY_LOW)
process.once('message', ({ dataDir, check }: FileCheckRequest) => {
  process.send?.(checkFiles(dataDir, check), undefined, undefined, () => process.disconnect?.())
})
