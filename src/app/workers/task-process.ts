import { constants, setPriority } from 'node:os'
import type { BackupReport, BackupRequest } from '../../backup/make-backup.ts'
import type { FileCheck } from '../../data-files/check-files.ts'
import type { Finding } from '../../operations/doctor/host-findings.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { FileFault } from '../../storage/file-fault.ts'
import type { ExaminedInstance } from '../composition/doctor.ts'

/** What a process of its own does, and returns, for a service or a command. Each loads only its own code. */
const TASKS = {
  /** Copying, hashing and encrypting would compete with visits for the processor. */
  async backup(request: BackupRequest): Promise<BackupReport> {
    const { makeBackup } = await import('../../backup/make-backup.ts')
    const { openRestored } = await import('../composition/backups.ts')
    return makeBackup(request, openRestored)
  },

  /** The checks read the database and the disk synchronously, which would delay visits. */
  async doctor(examined: ExaminedInstance): Promise<readonly Finding[]> {
    const { diagnoseInstance } = await import('../composition/doctor.ts')
    return diagnoseInstance(examined, systemClock(), { readsFiles: false })
  },

  /**
   * Not in a thread: SQLite checks a large file for minutes in one call that cannot be interrupted, and a
   * process waits for its threads before it ends.
   */
  async fileCheck(request: {
    readonly dataDir: string
    readonly check: FileCheck
  }): Promise<readonly FileFault[]> {
    const { checkFiles } = await import('../../data-files/check-files.ts')
    return checkFiles(request.dataDir, request.check)
  },
}

export type Tasks = typeof TASKS
export type TaskRequest<Name extends keyof Tasks = keyof Tasks> = {
  readonly name: Name
  readonly input: Parameters<Tasks[Name]>[0]
}
export type TaskOutcome<Result = unknown> = { readonly result: Result } | { readonly fault: string }

setPriority(constants.priority.PRIORITY_LOW)
// The process that requested the task has ended, so the result would be lost.
process.once('disconnect', () => process.exit(1))
process.once('message', async ({ name, input }: TaskRequest) => {
  let outcome: TaskOutcome
  try {
    outcome = { result: await TASKS[name](input as never) }
  } catch (error) {
    const { explainError } = await import('../cli/explain-error.ts')
    outcome = { fault: explainError(error) }
  }
  process.send?.(outcome, undefined, undefined, () => process.exit())
})
