import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import type { ClickScope } from '../../api/click-reads.ts'
import { CountedUntil } from '../../shell/CountedUntil.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useGradualParts } from '../../shell/use-gradual-parts.ts'
import { useText } from '../../text/use-text.ts'
import { AnalyticsTools } from './AnalyticsTools.tsx'
import type { AnalyticsSearch } from './analytics-search.ts'
import { Breakdown } from './Breakdown.tsx'
import { ComparisonChart } from './ComparisonChart.tsx'
import { Kpis } from './Kpis.tsx'
import { LiveView } from './LiveView.tsx'
import { lineQuery } from './line-queries.ts'
import { SeriesChart } from './SeriesChart.tsx'
import { tabId } from './TabList.tsx'
import { useView } from './use-view.ts'
import type { View } from './view.ts'
import { WorldMap } from './WorldMap.tsx'

/** Rows of charts below the line. */
const CELL_ROWS = 3

type AnalyticsProps = {
  readonly scope: ClickScope
  readonly search: AnalyticsSearch
  /** Chips and buttons that choose whose clicks are shown, where these can be chosen. */
  readonly scopeChips?: ReactNode
  readonly actions?: ReactNode
}

/** All charts of a scope; the address holds what they show. */
export function Analytics({ scope, search, scopeChips, actions }: AnalyticsProps) {
  const view = useView(scope, search)
  const rows = useGradualParts(CELL_ROWS)
  return (
    <>
      <AnalyticsTools view={view} scopeChips={scopeChips} actions={actions} />
      <div className="analytics">
        <div className="sheet">
          {scope.links.length > 1 ? <ComparisonChart view={view} /> : <Totals view={view} />}
          <LiveView view={view} />
          <Cells view={view} rows={rows} isOfLink={scopeChips === undefined} />
        </div>
        {rows === CELL_ROWS && <Note view={view} />}
      </div>
    </>
  )
}

type CellsProps = {
  readonly view: View
  /** How many rows of them are shown yet. */
  readonly rows: number
  /** Whether they are on the page of a link, which needs no list of links. */
  readonly isOfLink: boolean
}

function Cells({ view, rows, isOfLink }: CellsProps) {
  return (
    <div className="cells" aria-busy={rows < CELL_ROWS}>
      {rows > 0 && (
        <>
          <WorldMap view={view} />
          <Breakdown view={view} groupings={['country', 'language']} rows={8} className="w2" />
        </>
      )}
      {rows > 1 && (
        <>
          <Breakdown view={view} groupings={['referrer']} rows={6} className="first" />
          <Breakdown
            view={view}
            groupings={isOfLink ? ['source'] : ['link', 'tag']}
            rows={6}
            className=""
          />
        </>
      )}
      {rows > 2 && (
        <>
          <Breakdown view={view} groupings={['device']} rows={4} className="third first" />
          <Breakdown
            view={view}
            groupings={isOfLink ? ['os'] : ['os', 'browser']}
            rows={4}
            className="third"
          />
          <Breakdown
            view={view}
            groupings={
              isOfLink ? ['browser'] : ['utm_source', 'utm_medium', 'utm_campaign', 'source']
            }
            rows={4}
            className="third"
          />
        </>
      )}
    </div>
  )
}

/** The figures, and the line of the one that is chosen. */
function Totals({ view }: { view: View }) {
  const panelId = useId()
  const { data, error } = useQuery(lineQuery(view))
  return (
    <>
      {data === undefined && error !== null && <LoadFailure error={error} />}
      <Kpis view={view} panelId={panelId} />
      <CountedUntil instant={data?.counted_until} />
      <EarlierClicks opening={data?.opening ?? 0} />
      <div id={panelId} role="tabpanel" aria-labelledby={tabId(panelId, view.measure)}>
        <SeriesChart view={view} />
      </div>
    </>
  )
}

/** Clicks of another service whose dates are unknown: no chart has them. */
function EarlierClicks({ opening }: { opening: number }) {
  const t = useText()
  return opening > 0 && <p className="hint earlier-clicks">{t.analytics.earlier(opening)}</p>
}

function Note({ view }: { view: View }) {
  const t = useText()
  return (
    <p className="hint analytics-note">
      {t.analytics.note} {view.scope.links.length > 1 && t.analytics.comparedHint}
    </p>
  )
}
