import pg from 'pg'
import { Failure } from '../../domain/failure.ts'
import { StaleRow, UniqueViolation } from '../../domain/store.ts'

/** SQLSTATE codes (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

/** Connection exceptions, no resources, operator's intervention, system errors, read-only, and idle for too long. */
const UNAVAILABLE = /^(08|53|57|58)|^(25006|25P03)$/

/** An error of pg in the words of the store's port. Programmer's errors pass as they are. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) {
    // What pg itself throws besides the server's errors is about the connection or a time-out.
    return error instanceof Error && !(error instanceof TypeError)
      ? Failure.unavailable(error)
      : error
  }
  const code = error.code ?? ''
  if (code === UNIQUE_VIOLATION) return new UniqueViolation()
  if (code === FOREIGN_KEY_VIOLATION) return new StaleRow()
  if (code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED) return new StaleRow()
  return UNAVAILABLE.test(code) ? Failure.unavailable(error) : error
}
