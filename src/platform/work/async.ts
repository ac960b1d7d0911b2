/**
 * Returns how long to wait before retry `attempt` (0 is the first). The upper limit doubles from `baseMs` to
 * `capMs`; "full jitter" keeps many clients from retrying in step
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 *
 * @param unit a number in [0, 1), such as `Math.random()`
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number, unit: number): number {
  return unit * Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30))
}

/** Runs pieces of work one at a time, in the order in which they were added. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}

/**
 * Like `Promise.all`, but waits for every promise to settle even when one rejects. Rejects with the reason
 * of the first rejected promise in array order.
 */
export async function waitForAll<const P extends readonly unknown[]>(
  promises: P,
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  try {
    return await Promise.all(promises)
  } catch {
    const outcomes = await Promise.allSettled(promises)
    const rejected = outcomes.find((outcome) => outcome.status === 'rejected')
    throw rejected?.reason
  }
}

const waiting: (() => void)[] = []

/**
 * Settles in a later iteration of the event loop, for one caller per iteration. However many callers split
 * long work with it, a visitor waits for at most one piece.
 *
 * @throws the reason of `signal` when that has aborted, so that the work ends there
 */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(resumeOne)
  })
  signal?.throwIfAborted()
}

function resumeOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeOne)
}
