import pg from 'pg'
import { Failure } from '../../platform/failure.ts'
import { StaleRow, UniqueViolation } from '../store.ts'

/** SQLSTATE codes (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const DISK_FULL = '53100'
const QUERY_CANCELED = '57014'

const DISK_FULL_TEXT =
  'The disk of the database server is full. Nothing can be stored until there is room.'

/**
 * Connection exceptions, insufficient resources, operator intervention, system errors, read-only
 * transactions, idle session time-outs, and functions that a standby refuses.
 */
const UNAVAILABLE = /^(08|53|57|58)|^(25006|25P03|55000)$/

/**
 * After these errors the connection is unusable: the server closes it, or the server is read-only or a standby.
 */
const CONNECTION_LOST = /^08|^57P0|^25006$|^25P03$|^55000$/

/** Whether an error of pg means that the connection failed, and not only the query. */
export function isConnectionLost(error: unknown): boolean {
  // Errors that pg throws itself, rather than the server, concern the connection or a time-out.
  if (!(error instanceof pg.DatabaseError)) return !(error instanceof TypeError)
  return CONNECTION_LOST.test(error.code ?? '')
}

/** Whether the server refused a connection only because it has reached its limit. */
export function isServerFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code ?? '').startsWith('53')
}

/** Whether the server cancelled a query, which it does at the statement time-out. */
export function isQueryCanceled(error: unknown): boolean {
  const cause = error instanceof Failure ? error.cause : error
  return cause instanceof pg.DatabaseError && cause.code === QUERY_CANCELED
}

/**
 * Translates an error of pg to the errors that `Store` documents. Programming errors are returned
 * unchanged.
 */
export function translateError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) {
    return error instanceof Error && !(error instanceof TypeError)
      ? Failure.unavailable(error)
      : error
  }
  const code = error.code ?? ''
  if (code === UNIQUE_VIOLATION) return new UniqueViolation()
  if (code === FOREIGN_KEY_VIOLATION) return new StaleRow()
  if (code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED) return new StaleRow()
  if (code === DISK_FULL)
    return Failure.unavailable(error, { kind: 'database_full', message: DISK_FULL_TEXT })
  if (code === QUERY_CANCELED) return Failure.unavailable(error, { kind: 'database_slow' })
  return UNAVAILABLE.test(code) ? Failure.unavailable(error) : error
}

/**
 * Formats arrays in PostgreSQL's text form (its manual, “Array Value Input”), for statements with
 * thousands of rows. Faster than pg's own formatting, which quotes every element, numbers too.
 */

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

export function numberArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** UUIDs need no quotes. */
export function uuidArray(values: readonly (string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

export function textArray(values: readonly string[]): string {
  if (values.length === 0) return '{}'
  const escaped = values.map((value) =>
    SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, '\\$&') : value,
  )
  return `{"${escaped.join('","')}"}`
}

export function bytesArray(values: readonly Uint8Array[]): string {
  if (values.length === 0) return '{}'
  return `{"\\\\x${values.map((bytes) => bytes.toHex()).join('","\\\\x')}"}`
}
