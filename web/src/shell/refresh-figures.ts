import type { QueryClient } from '@tanstack/react-query'
import { LINKS_KEY } from '../api/links.ts'
import { outage } from '../api/request.ts'

const REFRESH_MS = 5_000
/** A click that has become known is counted in the reports by then. */
const COUNTED_MS = 30_000
/** Requests keep a session alive: not that of a person who has left. */
const PRESENCE_MS = 300_000
const ACTS = ['pointermove', 'pointerdown', 'keydown', 'wheel'] as const

let knownAtMs = Number.NEGATIVE_INFINITY

/** To be called when clicks were streamed or counted: the reports that are shown are to have them too. */
export function noteNewClicks(): void {
  knownAtMs = Date.now()
}

/**
 * Loads the links that are shown again every few seconds, and the reports while clicks come, so that no figure contradicts
 * another. Only while the page is visible and used, and not during an outage.
 *
 * @returns stops it
 */
export function refreshFigures(client: QueryClient): () => void {
  let actedAtMs = Date.now()
  const end = new AbortController()
  for (const act of ACTS) {
    const note = () => {
      actedAtMs = Date.now()
    }
    addEventListener(act, note, { signal: end.signal, passive: true, capture: true })
  }
  const refresh = () => {
    if (document.visibilityState !== 'visible' || outage.value !== undefined) return
    const nowMs = Date.now()
    if (nowMs - actedAtMs > PRESENCE_MS) return
    const areReportsOld = nowMs - knownAtMs < COUNTED_MS
    const keys = [
      [...LINKS_KEY, 'page'],
      [...LINKS_KEY, 'one'],
      ...(areReportsOld ? [['clicks']] : []),
    ]
    // One that fails keeps what it has shown; the outage is reported by the request.
    for (const queryKey of keys) {
      void client.refetchQueries({ queryKey, type: 'active' }, { cancelRefetch: false })
    }
  }
  const timer = setInterval(refresh, REFRESH_MS)
  return () => {
    clearInterval(timer)
    end.abort()
  }
}
