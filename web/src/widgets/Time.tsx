import { useSyncExternalStore } from 'react'
import { useFormats } from '../text/use-text.ts'

const TICK_MS = 15_000

/** `12 s ago`; the exact instant on hover. */
export function Ago({ instant }: { instant: Date }) {
  const formats = useFormats()
  const now = useNow()
  return (
    <time dateTime={instant.toISOString()} title={formats.exact(instant)}>
      {formats.ago(instant, now)}
    </time>
  )
}

/** The day; the exact instant on hover. */
export function Day({ instant }: { instant: Date }) {
  const formats = useFormats()
  return (
    <time dateTime={instant.toISOString()} title={formats.exact(instant)}>
      {formats.day(instant)}
    </time>
  )
}

let nowMs = Date.now()

function subscribe(listener: () => void): () => void {
  const timer = setInterval(() => {
    nowMs = Date.now()
    listener()
  }, TICK_MS)
  return () => clearInterval(timer)
}

/** The present, to a quarter of a minute. */
export function useNow(): Date {
  const ms = useSyncExternalStore(subscribe, () => nowMs)
  return new Date(ms)
}
