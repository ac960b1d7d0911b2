import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { NO_VALUES } from './analytics-search.ts'
import { isUnknown } from './buckets.ts'
import type { SeriesData } from './series-data.ts'
import { useChange } from './use-change.ts'
import type { View } from './view.ts'

/** Over a plot that has nothing to show: no click, or nothing that is known. */
export function EmptyChart({ view, data }: { view: View; data: SeriesData }) {
  const t = useText()
  const change = useChange()
  const { buckets, begun } = data
  if (isUnknown(buckets, begun, view.measure)) {
    return (
      <div className="nothing">
        <div>{t.analytics.unknownVisitors}</div>
      </div>
    )
  }
  if (buckets.some(({ clicks, bots }) => clicks + bots > 0)) return null
  const isFiltered = Object.keys(view.filter).length > 0
  return (
    <div className="nothing">
      <div>
        <b>{isFiltered ? t.analytics.noMatch : t.analytics.empty}</b>
        {isFiltered ? (
          <Button size="small" onClick={() => change(NO_VALUES)}>
            {t.analytics.clearFilters}
          </Button>
        ) : (
          <span>{t.analytics.emptyHint}</span>
        )}
      </div>
    </div>
  )
}
