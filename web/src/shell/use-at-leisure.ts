import { useRouter } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'

/**
 * Whether to render what may take long. While the dashboard starts, that is a step of its own, which the browser can
 * interrupt; later it is true from the beginning, so that going back finds the page as it was.
 */
export function useAtLeisure(): boolean {
  const router = useRouter()
  const [hasStarted] = useState(() => router.state.resolvedLocation !== undefined)
  return useDeferredValue(true, hasStarted)
}
