import { useNavigate } from '@tanstack/react-router'
import type { AnalyticsPageSearch } from './analytics-search.ts'

/** Changes the address; Back returns to what was shown before. */
export function useChange(): (change: Partial<AnalyticsPageSearch>) => void {
  const navigate = useNavigate()
  return (change) =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...change }),
      resetScroll: false,
    } as Parameters<typeof navigate>[0])
}
