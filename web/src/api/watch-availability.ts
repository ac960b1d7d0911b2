import { noAnswer } from './api-error.ts'
import { outage, reportFailure } from './availability.ts'
import { request } from './request.ts'

const INTERVAL_MS = 5_000
/** A service that hangs is noticed within ten seconds too. */
const PATIENCE_MS = 4_000

/**
 * Asks the service now and then whether it answers, so that a page on which nothing happens notices an outage too. Only
 * while the page is visible, and not during an outage: the page is then loaded again until it answers.
 *
 * @returns stops it
 */
export function watchAvailability(): () => void {
  const check = () => {
    if (document.visibilityState === 'visible' && outage.value === undefined) void ask()
  }
  const timer = setInterval(check, INTERVAL_MS)
  document.addEventListener('visibilitychange', check)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', check)
  }
}

/** Anonymously: it must not keep the session of a person who has left alive. */
async function ask(): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  try {
    await request('GET', '/sign-in-options', { signal, isSilent: true, isAnonymous: true })
  } catch {
    if (signal.aborted) reportFailure(noAnswer())
  }
}
