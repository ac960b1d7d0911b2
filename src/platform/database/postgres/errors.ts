import pg from 'pg'
import { Failure } from '../../failure.ts'
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

/** Connection exceptions, no resources, operator's intervention, system errors, read-only, and idle for too long. */
const UNAVAILABLE = /^(08|53|57|58)|^(25006|25P03)$/

/** After these, the connection is of no more use: it is ending, or what it leads to takes no writes. */
const CONNECTION_LOST = /^08|^57P0|^25006$|^25P03$/

/** Whether an error of pg speaks against the connection, and not only against the query. */
export function isConnectionLost(error: unknown): boolean {
  // What pg itself throws besides the server's errors is about the connection or a time-out.
  if (!(error instanceof pg.DatabaseError)) return !(error instanceof TypeError)
  return CONNECTION_LOST.test(error.code ?? '')
}

/** Whether a server that refused a connection is there all the same, and serves those it has. */
export function isServerFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code ?? '').startsWith('53')
}

/** Whether the server ended a query, which it does after the statement time-out. */
export function isQueryCanceled(error: unknown): boolean {
  const cause = error instanceof Failure ? error.cause : error
  return cause instanceof pg.DatabaseError && cause.code === QUERY_CANCELED
}

/** An error of pg in the words of the store's port. Programmer's errors pass as they are. */
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
  if (code === DISK_FULL) return Failure.unavailable(error, DISK_FULL_TEXT)
  return UNAVAILABLE.test(code) ? Failure.unavailable(error) : error
}
