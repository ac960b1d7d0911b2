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
