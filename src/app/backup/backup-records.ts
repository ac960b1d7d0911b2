import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { BackupFile } from '../../backup/index.ts'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import type { KnownDay } from './pin-databases.ts'

const FILE_NAME = 'backups.json'

/** A finished day that a target holds, so that it need not be read again. */
export type DayRecord = KnownDay & { readonly file: BackupFile }

type MadeBackup = {
  readonly target: string
  readonly name: string
  readonly consistentAtMs: number
}

/** What a data folder records of its backups. */
export type BackupRecords = {
  /** Identifies this data folder: a target holds the backups of one. */
  readonly dataFolder: string
  readonly last?: MadeBackup
  /** The last backup that was restored and compared. */
  readonly verified?: MadeBackup
  /** The finished days in a target, by day, such as 2026-11-22. */
  readonly days?: { readonly target: string; readonly files: Readonly<Record<string, DayRecord>> }
}

/** Reads the records of a data folder; begins new ones when there are none or they are damaged. */
export function readBackupRecords(dataDir: string): BackupRecords {
  return findBackupRecords(dataDir) ?? { dataFolder: randomUUID() }
}

/** Undefined when no backup was made, or the records are damaged. */
export function findBackupRecords(dataDir: string): BackupRecords | undefined {
  try {
    const text = readFileSync(path.join(dataDir, FILE_NAME), 'utf8')
    const records = JSON.parse(text)
    return typeof records?.dataFolder === 'string' ? records : undefined
  } catch (error) {
    if (error instanceof SyntaxError || hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export function writeBackupRecords(dataDir: string, records: BackupRecords): void {
  const file = path.join(dataDir, FILE_NAME)
  const partial = `${file}.${process.pid}`
  writeFileSync(partial, JSON.stringify(records), { mode: 0o600, flush: true })
  renameSync(partial, file)
}
