import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { DownloadIcon, TableIcon, ZoomOutIcon } from '../../icons/index.ts'
import { type ChartFormats, useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/IconButton.tsx'
import { type Bucket, zoomedPeriod } from './buckets.ts'
import { downloadCsv } from './csv.ts'
import { EmptyChart } from './EmptyChart.tsx'
import { lineQuery } from './line-queries.ts'
import { Plot, type PlotLine } from './Plot.tsx'
import { intervalsFor } from './period.ts'
import { SeriesTable } from './SeriesTable.tsx'
import {
  axisLabel,
  csvRows,
  rangeText,
  readOut,
  type SeriesData,
  seriesData,
} from './series-data.ts'
import { useChange } from './use-change.ts'
import { useReport } from './use-report.ts'
import type { View } from './view.ts'

/** Clicks, visitors or bots over time, with the period before; as lines or as a table. */
export function SeriesChart({ view, isFixed }: { view: View; isFixed: boolean }) {
  const t = useText()
  const formats = useChartFormats(view.lineZone)
  const [isTable, setTable] = useState(false)
  const { compared } = view
  const { data: series, isStale } = useReport(lineQuery(view))
  const { data: before } = useQuery({
    ...lineQuery(view, compared),
    enabled: compared !== undefined,
  })
  const data = series && seriesData(series, compared && before, view)
  const measure = t.analytics.measures[view.measure]
  const name = t.analytics.by[view.interval](measure)
  return (
    <div className="chart">
      <div className="chart-h">
        <span className="key cur">{rangeText(view.period, formats)}</span>
        {compared !== undefined && <span className="key prev">{rangeText(compared, formats)}</span>}
        {!isFixed && <ZoomHint view={view} />}
        <div className="end">
          {!isFixed && <IntervalChoice view={view} />}
          <IconButton
            icon={TableIcon}
            className={isTable ? 'on' : ''}
            aria-pressed={isTable}
            label={isTable ? t.analytics.showChart : t.analytics.showTable}
            onClick={() => setTable(!isTable)}
          />
          <IconButton
            icon={DownloadIcon}
            label={t.analytics.downloadOf(name)}
            disabled={data === undefined}
            onClick={() => data && downloadCsv(`clicks-${view.interval}`, csvRows(data))}
          />
        </div>
      </div>
      <div className="plot-space" aria-busy={isStale}>
        {data !== undefined && isTable && (
          <SeriesTable caption={name} data={data} interval={view.interval} formats={formats} />
        )}
        {data !== undefined && !isTable && (
          <>
            <SeriesPlot view={view} data={data} name={name} formats={formats} isFixed={isFixed} />
            <EmptyChart view={view} data={data} />
          </>
        )}
      </div>
    </div>
  )
}

export function ZoomHint({ view }: { view: View }) {
  const t = useText()
  const change = useChange()
  if (view.search.from === undefined) return <span className="desk">{t.analytics.dragToZoom}</span>
  return (
    <IconButton
      icon={ZoomOutIcon}
      label={t.analytics.zoomOut}
      onClick={() => change({ from: undefined, to: undefined, interval: undefined })}
    />
  )
}

export function IntervalChoice({ view }: { view: View }) {
  const t = useText()
  const change = useChange()
  const fitting = intervalsFor(view.period, view.measure)
  if (fitting.length < 2) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a frame and a legend
    <div className="seg" role="group" aria-label={t.analytics.interval}>
      {fitting.map((interval) => (
        <button
          key={interval}
          type="button"
          aria-pressed={interval === view.interval}
          onClick={() => change({ interval })}
        >
          {t.analytics.intervals[interval]}
        </button>
      ))}
    </div>
  )
}

type SeriesPlotProps = {
  readonly view: View
  readonly data: SeriesData
  readonly name: string
  readonly formats: ChartFormats
  readonly isFixed: boolean
}

function SeriesPlot({ view, data, name, formats, isFixed }: SeriesPlotProps) {
  const t = useText()
  const zoom = useZoom(view, data.buckets)
  const { measure } = view
  const values = (buckets: readonly Bucket[]) => buckets.map((bucket) => bucket[measure])
  const lines: PlotLine[] = [
    { id: 'before', look: 'prv', values: values(data.before), isUnfinished: false },
    {
      id: 'shown',
      look: 'cur',
      hasFill: true,
      values: values(data.buckets.slice(0, data.begun)),
      isUnfinished: data.isUnfinished,
    },
  ]
  return (
    <Plot
      label={`${name}, ${rangeText(view.period, formats)}`}
      lines={lines}
      count={Math.max(data.buckets.length, data.before.length)}
      pointLabel={(index) => axisLabel(index, data, view.interval, formats, t)}
      valueLabel={formats.short}
      readOut={(index) => readOut(index, data, view, formats, t)}
      onZoom={isFixed ? undefined : zoom}
    />
  )
}

/** Shows a part of the period. An hour cannot be divided. */
export function useZoom(
  view: View,
  buckets: readonly Bucket[],
): ((from: number, to: number) => void) | undefined {
  const change = useChange()
  return (from, to) => {
    if (view.interval === 'hour' && from === to) return
    const starts = buckets.map(({ start }) => start)
    const period = zoomedPeriod(starts, view.period.to, [from, to], view.interval)
    if (period !== undefined) change({ ...period, period: undefined, interval: undefined })
  }
}
