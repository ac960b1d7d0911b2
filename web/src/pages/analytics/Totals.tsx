import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Period } from '../../api/click-reads.ts'
import { type ClickPoint, type ClickSeries, seriesQuery } from '../../api/clicks.ts'
import { Icon } from '../../icons/Icon.tsx'
import { BotIcon, FallIcon, RiseIcon } from '../../icons/index.ts'
import { CountedUntil, LoadFailure } from '../../shell/LoadFailure.tsx'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { Skeleton } from '../../widgets/Loading.tsx'
import { TabList, tabId } from '../../widgets/TabList.tsx'
import { MEASURES, type Measure } from './analytics-search.ts'
import { useAddressChange } from './ChangeLink.tsx'
import { lineQuery, visitorsQuery } from './reports.ts'
import { SeriesChart } from './SeriesChart.tsx'
import { changeOf } from './scale.ts'
import { queryOf, type View } from './view.ts'

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

/** The figures of the period; each is a tab that shows its line. */
function Kpis({ view, panelId }: { view: View; panelId: string }) {
  const t = useText()
  const change = useAddressChange()
  const { elapsed, compared } = view
  const { data } = useQuery(view.measure === 'visitors' ? totalsQuery(view) : lineQuery(view))
  const { data: before } = useQuery({
    ...totalsQuery(view, elapsed),
    enabled: elapsed !== undefined,
  })
  const { data: visitors } = useQuery(visitorsQuery(view))
  const { data: visitorsBefore } = useQuery({
    ...visitorsQuery(view, compared),
    enabled: compared !== undefined,
  })
  const numbers: Readonly<Record<Measure, Omit<KpiProps, 'measure' | 'timezone'>>> = {
    clicks: {
      value: data?.total.clicks,
      before: elapsed && before?.total.clicks,
      ratio: elapsed && before && data && changeOf(data.total.clicks, before.total.clicks),
    },
    visitors: {
      value: visitors?.total.visitors,
      before: undefined,
      ratio:
        compared && visitors && visitorsBefore && visitorsChange(visitors, visitorsBefore, view),
    },
    bots: { value: data?.total.bots, before: undefined, ratio: undefined },
  }
  return (
    <TabList
      label={t.analytics.measure}
      className="kpis three"
      tabClassName="kpi"
      panelId={panelId}
      value={view.measure}
      tabs={MEASURES.map((measure) => ({
        value: measure,
        content: <Kpi measure={measure} {...numbers[measure]} timezone={view.timezone} />,
      }))}
      onChange={(measure) => change({ measure: measure === 'clicks' ? undefined : measure })}
    />
  )
}

/** The sums of a period, by month: the report with the fewest intervals. */
function totalsQuery(view: View, period: Period = view.period) {
  return seriesQuery(view.scope, { ...queryOf(view, period), interval: 'month' })
}

/** The change of visitors over complete days: visitors of part of a day are not known. */
function visitorsChange(
  shown: ClickSeries,
  before: ClickSeries,
  { now }: View,
): number | undefined {
  const sum = (points: readonly ClickPoint[]) =>
    points.reduce<number | null>(
      (total, { visitors = null }) =>
        total === null || visitors === null ? null : total + visitors,
      0,
    )
  const completeDays = shown.data.filter((_, nth) => {
    const end = shown.data[nth + 1]?.start ?? shown.to
    return Date.parse(end) <= now.getTime()
  }).length
  const [visitors, visitorsBefore] = [
    sum(shown.data.slice(0, completeDays)),
    sum(before.data.slice(0, completeDays)),
  ]
  return visitors === null || visitorsBefore === null || completeDays === 0
    ? undefined
    : changeOf(visitors, visitorsBefore)
}

type KpiProps = {
  readonly measure: Measure
  readonly value: number | null | undefined
  readonly before: number | undefined
  readonly ratio: number | undefined
  readonly timezone: string
}

function Kpi({ measure, value, before, ratio, timezone }: KpiProps) {
  const t = useText()
  const formats = useChartFormats(timezone)
  return (
    <>
      <span className="k">{t.analytics.measures[measure]}</span>
      <span className="v">
        {value === undefined ? (
          <Skeleton width={88} />
        ) : value === null ? (
          '–'
        ) : (
          formats.number(value)
        )}
      </span>
      <span className="d">
        {measure === 'bots' ? (
          <>
            <Icon of={BotIcon} />
            <span>{t.analytics.notCounted}</span>
          </>
        ) : (
          <>
            <Change ratio={ratio} timezone={timezone} />
            {before !== undefined && (
              <span className="from">{t.analytics.fromBefore(formats.number(before))}</span>
            )}
          </>
        )}
      </span>
    </>
  )
}

/** An arrow and a share; the words are for screen readers. */
export function Change({ ratio, timezone }: { ratio: number | undefined; timezone: string }) {
  const t = useText()
  const formats = useChartFormats(timezone)
  if (ratio === undefined || ratio === 0) return null
  const share = formats.share(Math.abs(ratio))
  return (
    <b className={ratio > 0 ? 'up' : 'down'}>
      <Icon of={ratio > 0 ? RiseIcon : FallIcon} />
      <span aria-hidden>{share}</span>
      <span className="sr">{ratio > 0 ? t.analytics.more(share) : t.analytics.less(share)}</span>
    </b>
  )
}
