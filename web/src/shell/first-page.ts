import { useRouter } from '@tanstack/react-router'
import { createContext, useDeferredValue, useState } from 'react'

/** Whether the components are in the page that the dashboard starts with. */
export const IsFirstPage = createContext(false)

/** Whether the page that calls this is the one that the dashboard starts with; it never changes while shown. */
export function useIsFirstPage(): boolean {
  const router = useRouter()
  const [isFirst] = useState(() => router.state.resolvedLocation === undefined)
  return isFirst
}

/**
 * Whether to render what may take long. On the first page that is a step of its own, which the browser can interrupt;
 * later it is true from the beginning, so that going back finds the page as it was.
 */
export function useAtLeisure(isFirst: boolean): boolean {
  return useDeferredValue(true, !isFirst)
}
