import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../shell/Page.tsx'
import { useText } from '../../text/use-text.ts'
import { Analytics } from './Analytics.tsx'
import { scopeOf } from './analytics-search.ts'
import { CompareButton, ScopeChips } from './ScopeChips.tsx'

const route = getRouteApi('/shell/analytics')

/** The clicks of the workspace, a domain, tags, a link, or several links beside each other. */
export default function AnalyticsPage() {
  const t = useText()
  const search = route.useSearch()
  const scope = scopeOf(search)
  return (
    <Page title={t.analytics.title} isFlush>
      <Analytics
        scope={scope}
        search={search}
        scopeChips={<ScopeChips scope={scope} />}
        actions={<CompareButton links={scope.links} />}
      />
    </Page>
  )
}
