import { type ReactNode, useEffect, useState } from 'react'

const PATIENCE_MS = 150

/** Shows nothing at first, but keeps its room: what is loaded by then needs no skeleton. */
export function AfterAMoment({ children }: { children: ReactNode }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return <div className={isLate ? 'contents' : 'contents invisible'}>{children}</div>
}

/** In place of a text that is being loaded. */
export function Skeleton({ width }: { width: number }) {
  return <span className="sk" style={{ width }} />
}
