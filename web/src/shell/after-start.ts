/** By now the page is shown, and code that is loaded still belongs to it: the service may be another version later. */
const START_MS = 3_000
const OCCASIONS = ['pointermove', 'pointerdown', 'keydown', 'online'] as const

/**
 * Loads what the first page does not need to be shown: with the first input, or after three seconds. What could not
 * be loaded is tried again with the next input.
 *
 * @returns how to stop
 */
export function afterStart(load: () => Promise<unknown>): () => void {
  const end = new AbortController()
  let isLoading = false
  async function start(): Promise<void> {
    if (isLoading) return
    isLoading = true
    try {
      await load()
      end.abort()
    } catch {
      isLoading = false
    }
  }
  const timer = setTimeout(start, START_MS)
  for (const occasion of OCCASIONS) addEventListener(occasion, start, { signal: end.signal })
  return () => {
    end.abort()
    clearTimeout(timer)
  }
}
