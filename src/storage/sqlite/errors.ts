import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type FolderFault, folderFaultText } from '../../platform/disk/folder.ts'
import { Failure, type UnavailableKind } from '../../platform/failure.ts'
import { StaleRow, UniqueViolation } from '../store.ts'

/** Result codes of SQLite (https://sqlite.org/rescode.html). */
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26
const CONSTRAINT_FOREIGNKEY = 787
const CONSTRAINT_PRIMARYKEY = 1555
const CONSTRAINT_UNIQUE = 2067

const UNAVAILABLE = new Set([BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB])

const FOLDER_FAULTS: ReadonlyMap<number, FolderFault> = new Map([
  [READONLY, 'read_only'],
  [IOERR, 'failing'],
  [FULL, 'full'],
])

/**
 * Translates an error of node:sqlite to the errors that `Store` documents. Other errors are
 * returned unchanged.
 *
 * @param folder the folder of the database file, which the message names when the file or its
 *   disk is at fault
 */
export function translateError(error: unknown, folder: string): unknown {
  const code = resultCode(error)
  if (code === undefined) return error
  if (code === CONSTRAINT_UNIQUE || code === CONSTRAINT_PRIMARYKEY) return new UniqueViolation()
  if (code === CONSTRAINT_FOREIGNKEY) return new StaleRow()
  if (!UNAVAILABLE.has(code & 0xff)) return error
  const message = textOfFault(code & 0xff, folder)
  return Failure.unavailable(error, { kind: kindOf(code & 0xff), message })
}

/** Returns the folder fault that an error of node:sqlite indicates, or undefined. */
export function sqliteFolderFault(error: unknown): FolderFault | undefined {
  return FOLDER_FAULTS.get((resultCode(error) ?? 0) & 0xff)
}

/** Returns the folder of a connection's file. */
export function folderOf(database: DatabaseSync): string {
  return path.dirname(database.location() ?? '')
}

function kindOf(code: number): UnavailableKind {
  if (code === BUSY || code === LOCKED) return 'database_busy'
  if (code === CORRUPT || code === NOTADB) return 'database_damaged'
  return `data_folder_${FOLDER_FAULTS.get(code) ?? 'failing'}`
}

function textOfFault(code: number, folder: string): string | undefined {
  if (code === CORRUPT || code === NOTADB) return `A database file in ${folder} is damaged.`
  if (code === CANTOPEN) return `A database file in ${folder} cannot be opened.`
  const fault = FOLDER_FAULTS.get(code)
  return fault && folderFaultText(fault, folder)
}

/** Whether a part of the file is damaged, or the disk fails to read it. */
export function isUnreadable(error: unknown): boolean {
  return [CORRUPT, NOTADB, IOERR].includes((resultCode(error) ?? 0) & 0xff)
}

/** Whether another process holds the lock that a transaction needs. */
export function isBusy(error: unknown): boolean {
  return ((resultCode(error) ?? 0) & 0xff) === BUSY
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

/** Returns an error's message for people. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
