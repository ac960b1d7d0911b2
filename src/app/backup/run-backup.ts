import { fork } from 'node:child_process'
import type { BackupOutcome } from '../workers/backup-process.ts'
import type { BackupReport, BackupRequest } from './make-backup.ts'

const PROGRAM = new URL('../workers/backup-process.ts', import.meta.url)

/**
 * Makes a backup in a process of its own, of the lowest priority: copying, hashing and encrypting would otherwise
 * compete with visits for the processor.
 *
 * @param stop kills the process; what it leaves is removed by the next backup
 * @throws as `makeBackup`
 */
export function runBackup(request: BackupRequest, stop?: AbortSignal): Promise<BackupReport> {
  return new Promise((resolve, reject) => {
    const child = fork(PROGRAM, [], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
      killSignal: 'SIGKILL',
      ...(stop && { signal: stop }),
    })
    child.once('message', (outcome: BackupOutcome) => {
      if ('report' in outcome) resolve(outcome.report)
      else reject(new Error(outcome.fault))
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      reject(new Error(`The backup process ended with ${signal ?? code}.`))
    })
    child.send(request, (error) => {
      if (error !== null) reject(error)
    })
  })
}
