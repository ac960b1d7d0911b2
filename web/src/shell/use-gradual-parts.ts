import { startTransition, useContext, useEffect, useState } from 'react'
import { IsFirstPage } from './first-page.ts'

/** Lets the browser paint, and answer the person, before the next part. */
const BETWEEN_MS = 20

/**
 * How many of the parts of a page may be shown. On the page that the dashboard starts with, one is added at a time;
 * on others all are shown from the beginning, so that going back finds the page as it was.
 */
export function useGradualParts(parts: number): number {
  const isFirst = useContext(IsFirstPage)
  const [shown, setShown] = useState(isFirst ? 0 : parts)
  useEffect(() => {
    if (shown >= parts) return
    const timer = setTimeout(() => startTransition(() => setShown(shown + 1)), BETWEEN_MS)
    return () => clearTimeout(timer)
  }, [shown, parts])
  return shown
}
