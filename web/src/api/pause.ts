/** Ends early when the signal aborts, and when the browser is online again. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    addEventListener('online', end)
    function end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      removeEventListener('online', end)
      resolve()
    }
  })
}
