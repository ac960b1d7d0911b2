const waiting: (() => void)[] = []

/**
 * Settles in a later iteration of the event loop, for one caller per iteration. However many callers split
 * long work with it, a visitor waits for at most one piece.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(resumeOne)
  })
}

function resumeOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeOne)
}
