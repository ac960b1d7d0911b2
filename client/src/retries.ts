export type RetryOptions = {
  /** How often a request is sent at most; 3 by default. */
  readonly attempts?: number
  /** Seconds: a service that asks for a longer pause is not asked again; 10 by default. */
  readonly pauseMax?: number
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>
}

const ATTEMPTS = 3
const PAUSE_SECONDS_MAX = 10
/** Of a service that names none. */
const PAUSE_SECONDS = 1

/** Returns a `fetch` that sends requests again that were refused for a moment: by a limit (429), or while busy (503). */
export function retrying({
  attempts = ATTEMPTS,
  pauseMax = PAUSE_SECONDS_MAX,
  fetch = globalThis.fetch,
}: RetryOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(attempt < attempts ? copyOf(request) : request)
      const seconds = attempt < attempts ? pauseOf(response) : undefined
      if (seconds === undefined || seconds > pauseMax) return response
      await response.body?.cancel()
      await pause(seconds, request.signal)
    }
  }
}

/** A body can be read once. Node.js may collect the signal of a clone as garbage, and then aborts nothing. */
function copyOf(request: Request): Request {
  return new Request(request.clone(), { signal: request.signal })
}

/** Returns the seconds to wait before the same request, or undefined where that does not help (RFC 9110, section 10.2.3). */
function pauseOf({ status, headers }: Response): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  const after = headers.get('retry-after')
  if (after === null) return PAUSE_SECONDS
  const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? PAUSE_SECONDS : Math.max(0, seconds)
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      signal.removeEventListener('abort', abort)
      resolve()
    }
    const timer = setTimeout(end, seconds * 1_000)
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
