import { useSyncExternalStore } from 'react'
import { useFormats } from '../text/use-text.ts'

const TICK_MS = 15_000

type TimeProps = {
  readonly instant: Date
  /** The sentence that it is part of. */
  readonly text?: (when: string) => string
}

const asIs = (when: string) => when

/** `12 s ago`; the exact instant on hover and focus. */
export function Ago({ instant, text = asIs }: TimeProps) {
  const formats = useFormats()
  const now = useNow()
  return <Exact instant={instant}>{text(formats.ago(instant, now))}</Exact>
}

/** `in 39 days`; the exact instant on hover and focus. What has passed is now. */
export function Until({ instant, text = asIs }: TimeProps) {
  const formats = useFormats()
  const now = useNow()
  const next = new Date(Math.max(instant.getTime(), now.getTime()))
  return <Exact instant={instant}>{text(formats.until(next, now))}</Exact>
}

/** The day; the exact instant on hover and focus. */
export function Day({ instant, text = asIs }: TimeProps) {
  const formats = useFormats()
  return <Exact instant={instant}>{text(formats.day(instant))}</Exact>
}

/** `ExactTimes` shows its instant. */
function Exact({ instant, children }: { instant: Date; children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the exact instant must be reachable by keyboard
    <time className="exact" tabIndex={0} dateTime={instant.toISOString()}>
      {children}
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
