import { constants, setPriority } from 'node:os'
import { type BackupReport, type BackupRequest, makeBackup } from '../backup/make-backup.ts'
import { explainError } from '../cli/explain-error.ts'

/** The answer of a process that makes a backup. */
export type BackupOutcome = { readonly report: BackupReport } | { readonly fault: string }

setPriority(constants.priority.PRIORITY_LOW)
// The process that requested the backup has ended, so the result would be lost.
process.once('disconnect', () => process.exit(1))
process.once('message', async (request: BackupRequest) => {
  let outcome: BackupOutcome
  try {
    outcome = { report: await makeBackup(request) }
  } catch (error) {
    outcome = { fault: explainError(error) }
  }
  process.send?.(outcome, undefined, undefined, () => process.exit())
})
