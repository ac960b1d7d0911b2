import type { ErrorCode, Problem } from '@terse/contract/errors'

/**
 * The body of an error that no `Failure` describes. It loads no texts, for what answers before the API is loaded.
 *
 * @param requestId left out for one item of a request
 */
export function problem(code: ErrorCode, message: string, requestId?: string): Problem {
  return { message, code, ...(requestId !== undefined && { request_id: requestId }) }
}
