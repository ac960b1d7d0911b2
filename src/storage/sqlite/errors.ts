import { Failure } from '../../domain/failure.ts'
import { StaleRow, UniqueViolation } from '../../domain/store.ts'

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

/** An error of node:sqlite in the words of the store's port. Other errors pass as they are. */
export function translateError(error: unknown): unknown {
  const code = resultCode(error)
  if (code === undefined) return error
  if (code === CONSTRAINT_UNIQUE || code === CONSTRAINT_PRIMARYKEY) return new UniqueViolation()
  if (code === CONSTRAINT_FOREIGNKEY) return new StaleRow()
  return UNAVAILABLE.has(code & 0xff) ? Failure.unavailable(error) : error
}

/** Whether another process holds the lock that a transaction needs. */
export function isBusy(error: unknown): boolean {
  return ((resultCode(error) ?? 0) & 0xff) === BUSY
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

/** What is to be told of an error. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
