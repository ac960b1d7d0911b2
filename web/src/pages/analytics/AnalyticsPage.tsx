import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../shell/Page.tsx'
import { useText } from '../../text/use-text.ts'
import Analytics from './Analytics.tsx'

const route = getRouteApi('/shell/analytics')

/** The clicks of the workspace, of a domain, of a link, or of several links beside each other. */
export default function AnalyticsPage() {
  const t = useText()
  const { domain, link, ...search } = route.useSearch()
  return (
    <Page title={t.analytics.title} isFlush>
      <Analytics scope={{ domain, link: link?.[0] }} search={search} />
    </Page>
  )
}
