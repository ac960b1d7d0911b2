import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { CountedUntil } from '../../shell/CountedUntil.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useText } from '../../text/use-text.ts'
import { Kpis } from './Kpis.tsx'
import { lineQuery } from './line-queries.ts'
import { SeriesChart } from './SeriesChart.tsx'
import { tabId } from './TabList.tsx'
import type { View } from './view.ts'

type TotalsProps = {
  readonly view: View
  /** Whether the period is chosen elsewhere: it cannot be zoomed or divided in another way. */
  readonly isFixed?: boolean
}

/** The figures, and the line of the one that is chosen. */
export function Totals({ view, isFixed = false }: TotalsProps) {
  const panelId = useId()
  const { data, error } = useQuery(lineQuery(view))
  return (
    <>
      {data === undefined && error !== null && <LoadFailure error={error} />}
      <Kpis view={view} panelId={panelId} />
      <CountedUntil instant={data?.counted_until} />
      <EarlierClicks opening={data?.opening ?? 0} />
      <div id={panelId} role="tabpanel" aria-labelledby={tabId(panelId, view.measure)}>
        <SeriesChart view={view} isFixed={isFixed} />
      </div>
    </>
  )
}

/** Clicks of another service whose dates are unknown: no chart has them. */
function EarlierClicks({ opening }: { opening: number }) {
  const t = useText()
  return opening > 0 && <p className="hint earlier-clicks">{t.analytics.earlier(opening)}</p>
}
