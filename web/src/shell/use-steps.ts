import { useRouter } from '@tanstack/react-router'
import { startTransition, useEffect, useState } from 'react'

/** Lets the browser paint, and answer the person, between two steps. */
const BETWEEN_MS = 20

/**
 * How many of the parts of a page may be shown. While the dashboard starts, each is a step of its own; later all are
 * shown from the beginning, so that going back finds the page as it was.
 */
export function useSteps(parts: number): number {
  const router = useRouter()
  const [shown, setShown] = useState(() =>
    router.state.resolvedLocation === undefined ? 0 : parts,
  )
  useEffect(() => {
    if (shown >= parts) return
    const timer = setTimeout(() => startTransition(() => setShown(shown + 1)), BETWEEN_MS)
    return () => clearTimeout(timer)
  }, [shown, parts])
  return shown
}
