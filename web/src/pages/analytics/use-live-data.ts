import { useEffect, useState, useSyncExternalStore } from 'react'
import { followClicks, type LiveListener, type LiveQuery } from '../../api/live-clicks.ts'
import { noteNewClicks } from '../../shell/refresh-figures.ts'
import { type LiveData, liveData, movedTo, withClicks } from './live-data.ts'

const TICK_MS = 1_000

type Live = {
  readonly data: LiveData | undefined
  /** While it is not `open`, minutes pass of which nothing is known, so the data stays as it is. */
  readonly state: 'opening' | 'open' | 'retrying' | 'refused'
  /** How far the clock of the service is ahead of this one. */
  readonly aheadMs: number
}

/** Follows clicks while the tab is visible. */
export function useLiveData(initial: LiveQuery): Live {
  // A component is made for each query.
  const [query] = useState(initial)
  const [live, setLive] = useState<Live>({ data: undefined, state: 'opening', aheadMs: 0 })
  const isVisible = useSyncExternalStore(
    subscribeToVisibility,
    () => document.visibilityState === 'visible',
  )
  useEffect(() => {
    if (!isVisible) return
    const leave = new AbortController()
    const change = (state: Live['state']) => setLive((before) => ({ ...before, state }))
    const listener: LiveListener = {
      onStart: (start, aheadMs) => setLive({ data: liveData(start), state: 'open', aheadMs }),
      onClicks(batch) {
        noteNewClicks()
        setLive((before) => {
          const data = current(before).data
          return { ...before, data: data && withClicks(data, batch) }
        })
      },
      onFailure: () => change('retrying'),
      onRefusal: () => change('refused'),
    }
    void followClicks(query, listener, leave.signal)
    const timer = setInterval(() => setLive(current), TICK_MS)
    return () => {
      clearInterval(timer)
      leave.abort()
      change('opening')
    }
  }, [query, isVisible])
  return live
}

/** The same object while nothing changes, so that nothing is rendered. */
function current(live: Live): Live {
  if (live.data === undefined || live.state !== 'open') return live
  const data = movedTo(live.data, Date.now() + live.aheadMs)
  return data === live.data ? live : { ...live, data }
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
