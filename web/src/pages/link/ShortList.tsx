import { Link } from '@tanstack/react-router'
import type { CSSProperties } from 'react'
import type { Dimension } from '../../api/click-reads.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import type { AnalyticsPageSearch } from '../analytics/analytics-search.ts'
import { breakdownQuery, countOf } from '../analytics/breakdown-query.ts'
import { useReport } from '../analytics/use-report.ts'
import { valueName } from '../analytics/value-names.ts'
import type { View } from '../analytics/view.ts'

const ROWS = 4

type ShortListProps = {
  readonly view: View
  readonly grouping: Dimension
  /** The search of the analytics page, to which each row leads with its value. */
  readonly search: AnalyticsPageSearch
}

/** The values of a dimension with the most clicks. */
export function ShortList({ view, grouping, search }: ShortListProps) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const { data, error, isStale } = useReport(breakdownQuery(view, grouping, ROWS))
  const name = t.analytics.dimensions[grouping]
  const values = (data?.data.length ?? 0) + (data?.rest.values ?? 0)
  const largest = countOf(data?.data[0])
  return (
    <section className="cell third">
      <div className="cell-h">
        <h2>{name}</h2>
      </div>
      {data === undefined && error !== null && <LoadFailure error={error} />}
      <div className="bars" aria-busy={isStale} data-rows={ROWS}>
        {data?.data.slice(0, ROWS).map((group) => {
          const value = group.value ?? ''
          const text = valueName(grouping, value, formats, t)
          const width = `${largest === 0 ? 0 : (countOf(group) / largest) * 100}%`
          return (
            <Link
              key={value}
              to="/analytics"
              search={{ ...search, [grouping]: [value] }}
              preload={false}
              style={{ '--w': width } as CSSProperties}
            >
              {grouping === 'country' && <span className="cc">{value === '' ? '–' : value}</span>}
              <span className="cut" title={text}>
                {text}
              </span>
              <span className="v">{formats.number(countOf(group))}</span>
            </Link>
          )
        })}
        {data?.data.length === 0 && <p className="muted bars-none">{t.common.none}</p>}
      </div>
      {values > 0 && (
        <Link
          to="/analytics"
          search={search}
          preload={false}
          className="more"
          aria-label={`${t.analytics.all(values)}: ${name}`}
        >
          {t.analytics.all(values)}
        </Link>
      )}
    </section>
  )
}
