import { constants, setPriority } from 'node:os'
import { type BackupRequest, makeBackup } from '../../backup/make-backup.ts'
import { explainError } from '../cli/explain-error.ts'
import { type BackupOutcome, openRestored } from '../composition/backups.ts'

setPriority(constants.priority.PRIORITY_LOW)
// The process that requested the backup has ended, so the result would be lost.
process.once('disconnect', () => process.exit(1))
process.once('message', async (request: BackupRequest) => {
  let outcome: BackupOutcome
  try {
    outcome = { report: await makeBackup(request, openRestored) }
  } catch (error) {
    outcome = { fault: explainError(error) }
  }
  process.send?.(outcome, undefined, undefined, () => process.exit())
})
