import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Dimension } from '../../api/click-reads.ts'
import { Page } from '../../shell/Page.tsx'
import { useText } from '../../text/use-text.ts'
import { useNow } from '../../widgets/Time.tsx'
import { AnalyticsTools } from './AnalyticsTools.tsx'
import { AnalyticsViews } from './AnalyticsViews.tsx'
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
    <Page title={t.analytics.title} views={<AnalyticsViews />} isFlush>
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
          <VariantFindings view={view} />
          <LiveView view={view} />
          <Cells view={view} />
          <RuleCells view={view} />
          <LabelAndPlaceCells view={view} />
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
    </div>
  )
}

/** Only where rules decided clicks: most links have none. A click with a variant has a rule too. */
function RuleCells({ view }: { view: View }) {
  const hasRules = useHasValues(view, 'rule', true)
  return (
    <div className="cells even">
      {hasRules && <SparseBreakdown view={view} grouping="rule" />}
      <SparseCell view={view} grouping="variant" isWanted={hasRules} />
    </div>
  )
}

/** Requested once the end of the page is near: most visits have no label, and most databases no cities. */
function LabelAndPlaceCells({ view }: { view: View }) {
  const place = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    if (isNear || place.current === null) return
    const observer = new IntersectionObserver(
      (entries) => setNear(entries.some(({ isIntersecting }) => isIntersecting)),
      { rootMargin: '400px' },
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [isNear])
  return (
    <div className="cells even" ref={place}>
      {(['label', 'region', 'city'] as const).map((grouping) => (
        <SparseCell key={grouping} view={view} grouping={grouping} isWanted={isNear} />
      ))}
    </div>
  )
}

const SPARSE_ROWS = 4

type SparseCellProps = { readonly view: View; readonly grouping: Dimension }

function SparseCell({ isWanted, ...cell }: SparseCellProps & { readonly isWanted: boolean }) {
  return useHasValues(cell.view, cell.grouping, isWanted) && <SparseBreakdown {...cell} />
}

function SparseBreakdown({ view, grouping }: SparseCellProps) {
  return <Breakdown view={view} groupings={[grouping]} rows={SPARSE_ROWS} className="" />
}

/** Whether clicks have a value of the dimension, or one is set as a filter. Requests nothing until it is wanted. */
function useHasValues(view: View, grouping: Dimension, isWanted: boolean): boolean {
  const { data } = useReport({
    ...breakdownQuery(view, grouping, SPARSE_ROWS),
    enabled: isWanted,
  })
  const hasValues = isWanted && (data?.data.some(({ value }) => value !== null) ?? false)
  return hasValues || wantedOf(view, grouping).length > 0
}

function Note({ view }: { view: View }) {
  const t = useText()
  return (
    <p className="hint analytics-note">
      {t.analytics.note} {view.scope.links.length > 1 && t.analytics.comparedHint}
    </p>
  )
}
