import type { ClickScope } from '../../api/click-reads.ts'
import { useNow } from '../../widgets/Time.tsx'
import type { AnalyticsSearch } from './analytics-search.ts'
import { type View, viewOf } from './view.ts'

export function useView(scope: ClickScope, search: AnalyticsSearch): View {
  return viewOf(scope, search, useNow())
}
