import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { ClickScope } from '../../api/clicks.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useText } from '../../text/use-text.ts'
import { AnalyticsTools } from './AnalyticsTools.tsx'
import type { AnalyticsSearch } from './analytics-search.ts'
import { Breakdown } from './Breakdown.tsx'
import { Kpis } from './Kpis.tsx'
import { SeriesChart } from './SeriesChart.tsx'
import { tabId } from './TabList.tsx'
import { lineQuery, useView, type View } from './view.ts'
import { WorldMap } from './WorldMap.tsx'

type AnalyticsProps = {
  readonly scope: ClickScope
  readonly search: AnalyticsSearch
}

/** All charts of a scope; the address holds what they show. */
export default function Analytics({ scope, search }: AnalyticsProps) {
  const view = useView(scope, search)
  return (
    <>
      <AnalyticsTools view={view} />
      <Sheet view={view} />
    </>
  )
}

/** Figures, the line, the map and the breakdowns. */
function Sheet({ view }: { view: View }) {
  const t = useText()
  const panelId = useId()
  const { data, error } = useQuery(lineQuery(view))
  return (
    <div className="analytics">
      {data === undefined && error !== null && <LoadFailure error={error} />}
      <div className="sheet">
        <Kpis view={view} panelId={panelId} />
        <div id={panelId} role="tabpanel" aria-labelledby={tabId(panelId, view.measure)}>
          <SeriesChart view={view} />
        </div>
        <div className="cells">
          <WorldMap view={view} />
          <Breakdown view={view} dimensions={['country', 'language']} rows={8} className="w2" />
          <Breakdown view={view} dimensions={['referrer']} rows={6} className="first" />
          <Breakdown view={view} dimensions={['source']} rows={6} className="" />
          <Breakdown view={view} dimensions={['device']} rows={4} className="third first" />
          <Breakdown view={view} dimensions={['os']} rows={4} className="third" />
          <Breakdown view={view} dimensions={['browser']} rows={4} className="third" />
        </div>
      </div>
      <p className="hint analytics-note">{t.analytics.note}</p>
    </div>
  )
}
