/** What other modules use of the SQLite files of a data folder, as a set that belongs together. */

export { checkFiles } from './check-files.ts'
export { examineFiles, filesIdentity, readCounted, readDay } from './examine-files.ts'
export { endRun } from './file-run.ts'
export { FolderLock, isFolderOpen, lockName } from './folder-lock.ts'
