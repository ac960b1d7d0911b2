import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../shell/Page.tsx'
import { useText } from '../../text/use-text.ts'
import { useNow } from '../../widgets/Time.tsx'
import { AnalyticsTools } from './AnalyticsTools.tsx'
import { scopeOf } from './analytics-search.ts'
import { Breakdown } from './Breakdown.tsx'
import { ComparisonChart } from './ComparisonChart.tsx'
import { breakdownQuery } from './groups.ts'
import { LiveView } from './LiveView.tsx'
import { useReport } from './reports.ts'
import { Totals } from './Totals.tsx'
import { VariantFindings } from './VariantFindings.tsx'
import { type View, viewOf, wantedOf } from './view.ts'
import { WorldMap } from './WorldMap.tsx'

const route = getRouteApi('/shell/analytics')

/** The clicks of the workspace, a domain, tags, a link, or several links beside each other. */
export default function AnalyticsPage() {
  const t = useText()
  const search = route.useSearch()
  const view = viewOf(scopeOf(search), search, useNow())
  return (
    <Page title={t.analytics.title} isFlush>
      <Analytics view={view} />
    </Page>
  )
}

/** Within the page, which knows whether it is the first. */
function Analytics({ view }: { view: View }) {
  return (
    <>
      <AnalyticsTools view={view} />
      <div className="analytics">
        <div className="sheet">
          {view.scope.links.length > 1 ? <ComparisonChart view={view} /> : <Totals view={view} />}
          <LiveView view={view} />
          <Cells view={view} />
        </div>
        <Note view={view} />
      </div>
    </>
  )
}

function Cells({ view }: { view: View }) {
  return (
    <div className="cells">
      <WorldMap view={view} />
      <Breakdown view={view} groupings={['country', 'language']} rows={8} className="w2" />
      <Breakdown view={view} groupings={['referrer']} rows={6} className="first" />
      <Breakdown view={view} groupings={['link', 'tag']} rows={6} className="" />
      <Breakdown view={view} groupings={['device']} rows={4} className="third first" />
      <Breakdown view={view} groupings={['os', 'browser']} rows={4} className="third" />
      <Breakdown
        view={view}
        groupings={['utm_source', 'utm_medium', 'utm_campaign', 'source']}
        rows={4}
        className="third"
      />
      <SparseCell view={view} grouping="rule" className="first" />
      <SparseCell view={view} grouping="variant" className="" />
      <VariantFindings view={view} />
      <SparseCell view={view} grouping="label" className="first" />
      <SparseCell view={view} grouping="region" className="" />
      <SparseCell view={view} grouping="city" className="" />
    </div>
  )
}

const SPARSE_ROWS = 4

type SparseCellProps = {
  readonly view: View
  readonly grouping: 'rule' | 'variant' | 'label' | 'region' | 'city'
  readonly className: string
}

/** Only where there is a click with a value: most links have no rules, most visits no label, most databases no cities. */
function SparseCell({ view, grouping, className }: SparseCellProps) {
  const { data } = useReport(breakdownQuery(view, grouping, SPARSE_ROWS))
  const hasValues = data?.data.some(({ value }) => value !== null) ?? false
  if (!hasValues && wantedOf(view, grouping).length === 0) return null
  return <Breakdown view={view} groupings={[grouping]} rows={SPARSE_ROWS} className={className} />
}

function Note({ view }: { view: View }) {
  const t = useText()
  return (
    <p className="hint analytics-note">
      {t.analytics.note} {view.scope.links.length > 1 && t.analytics.comparedHint}
    </p>
  )
}
