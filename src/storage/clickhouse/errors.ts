import { ClickHouseError } from '@clickhouse/client'
import { Failure } from '../../platform/failure.ts'

/** Codes of the server (its src/Common/ErrorCodes.cpp). */
const SLOW: ReadonlySet<string> = new Set([
  '159', // TIMEOUT_EXCEEDED
  '160', // TOO_SLOW
  '394', // QUERY_WAS_CANCELLED
])
const FULL: ReadonlySet<string> = new Set([
  '243', // NOT_ENOUGH_SPACE
  '76', // CANNOT_OPEN_FILE
  '75', // CANNOT_WRITE_TO_FILE_DESCRIPTOR
])
/** Of a server, while others of its cluster may work. */
const AWAY: ReadonlySet<string> = new Set([
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '210', // NETWORK_ERROR
  '225', // NO_ZOOKEEPER
  '236', // ABORTED
  '242', // TABLE_IS_READ_ONLY
  '285', // TOO_FEW_LIVE_REPLICAS
  '999', // KEEPER_EXCEPTION
])
/** What only a fault of this program causes. */
const PROGRAMMING: ReadonlySet<string> = new Set([
  '6', // CANNOT_PARSE_TEXT
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '36', // BAD_ARGUMENTS
  '42', // NUMBER_OF_ARGUMENTS_DOESNT_MATCH
  '43', // ILLEGAL_TYPE_OF_ARGUMENT
  '46', // UNKNOWN_FUNCTION
  '47', // UNKNOWN_IDENTIFIER
  '53', // TYPE_MISMATCH
  '62', // SYNTAX_ERROR
  '115', // UNKNOWN_SETTING
  '117', // INCORRECT_DATA
  '184', // ILLEGAL_AGGREGATION
  '215', // NOT_AN_AGGREGATE
  '386', // NO_COMMON_TYPE
  '456', // UNKNOWN_QUERY_PARAMETER
  '457', // BAD_QUERY_PARAMETER
])

const AWAY_TEXT = 'The database of clicks is not available at the moment.'
const FULL_TEXT =
  'The disk of the database of clicks is full. Clicks are counted when there is room.'

/** Whether a query has exceeded its time limit in the server. */
export function isTooSlow(error: unknown): boolean {
  return (
    error instanceof Failure && error.cause instanceof ClickHouseError && error.cause.code === '159'
  )
}

/** Whether the server has not answered within the limit. */
export function isSilent(error: unknown): boolean {
  return (
    error instanceof Error &&
    !(error instanceof ClickHouseError) &&
    /timeout/i.test(`${error.name} ${error.message}`)
  )
}

/** Whether another server may do what this one could not: it cannot be reached, is ending or is only a replica that is read. */
export function isAway(error: unknown): boolean {
  if (error instanceof ClickHouseError) return AWAY.has(error.code)
  return error instanceof Error && !(error instanceof TypeError) && !isSilent(error)
}

/** Translates an error of the client to `Failure.unavailable`. Programming errors are returned unchanged. */
export function translateError(error: unknown): unknown {
  if (error instanceof Failure || error instanceof TypeError) return error
  if (!(error instanceof ClickHouseError)) {
    return Failure.unavailable(error, {
      kind: isSilent(error) ? 'clicks_slow' : 'clicks',
      message: AWAY_TEXT,
    })
  }
  const { code } = error
  if (PROGRAMMING.has(code)) return error
  if (FULL.has(code)) return Failure.unavailable(error, { kind: 'clicks_full', message: FULL_TEXT })
  const kind = SLOW.has(code) ? 'clicks_slow' : 'clicks'
  return Failure.unavailable(error, { kind, message: AWAY_TEXT })
}
