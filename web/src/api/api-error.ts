import type { ErrorCode, FaultResource, Problem } from '@terse/contract/errors'

/** Why a request failed. */
export class ApiError extends Error {
  /** 0 where no answer came. */
  readonly status: number
  readonly code: ErrorCode | 'no_answer' | 'unknown_answer' | (string & {})
  /** What is wrong with each field of the body or the query. */
  readonly fields: Readonly<Record<string, readonly FaultResource[]>>
  /** A closer reason than the code. */
  readonly details: Problem['details']
  /** The id of the request, to report it. */
  readonly request_id: string | undefined
  /** When the service asks to be tried again, in seconds. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    problem: Pick<Problem, 'message'> & Partial<Omit<Problem, 'code'>> & { code: string },
    retryAfterSeconds?: number,
  ) {
    super(problem.message)
    this.name = 'ApiError'
    this.status = status
    this.code = problem.code
    this.fields = problem.faults ?? {}
    this.details = problem.details
    this.request_id = problem.request_id
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** Whether the same request may succeed later: no connection, or the service cannot answer now. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 503 || this.status === 502 || this.status === 504
  }
}

export function noAnswer(): ApiError {
  return new ApiError(0, { code: 'no_answer', message: 'The service did not answer.' })
}

export async function errorOf(response: Response): Promise<ApiError> {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined
  try {
    const body: unknown = await response.json()
    if (isProblem(body)) return new ApiError(response.status, body, retryAfterSeconds)
  } catch {
    // A proxy has answered in its own words.
  }
  const message = `The service answered ${response.status}.`
  return new ApiError(response.status, { code: 'unknown_answer', message }, retryAfterSeconds)
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'message' in body && 'code' in body
}
