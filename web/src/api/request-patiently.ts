import { ApiError } from './api-error.ts'
import { pause } from './pause.ts'
import { type RequestOptions, request } from './request.ts'

/** By then others have had their turns; the first answer comes after 5 s at most. */
const RETRIES_MAX = 3

/** As `request` with GET, for work that waits in a queue: a busy service is asked again when it says. */
export async function requestPatiently<T>(
  path: string,
  options: Pick<RequestOptions, 'query' | 'signal'>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    const isRetried = retries < RETRIES_MAX
    try {
      return await request<T>('GET', path, { ...options, isRetried })
    } catch (error) {
      const seconds = isRetried && error instanceof ApiError ? secondsUntilRetry(error) : undefined
      if (seconds === undefined) throw error
      await pause(seconds * 1_000, options.signal)
      options.signal?.throwIfAborted()
    }
  }
}

/** Undefined for what would fail again. */
function secondsUntilRetry({ status, retryAfterSeconds }: ApiError): number | undefined {
  return status === 503 || status === 429 ? retryAfterSeconds : undefined
}
