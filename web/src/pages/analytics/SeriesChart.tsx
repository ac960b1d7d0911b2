import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { DownloadIcon, TableIcon, ZoomOutIcon } from '../../icons/index.ts'
import { type ChartFormats, useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { Button, IconButton } from '../../widgets/Button.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { downloadCsv } from '../../widgets/save-file.ts'
import { type Interval, MEASURES, NO_VALUES } from './analytics-search.ts'
import { useAddressChange } from './ChangeLink.tsx'
import { Plot, type PlotLine } from './Plot.tsx'
import { lineQuery, useReport } from './reports.ts'
import {
  axisLabel,
  type Bucket,
  bucketName,
  csvRows,
  isUnknown,
  rangeText,
  readOut,
  type SeriesData,
  seriesData,
  zoomedPeriod,
} from './series-data.ts'
import { intervalsFor, type View } from './view.ts'

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
  const change = useAddressChange()
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
  const change = useAddressChange()
  const fitting = intervalsFor(view.period, view.measure)
  if (fitting.length < 2) return null
  return (
    <SegmentedControl
      label={t.analytics.interval}
      value={view.interval}
      choices={fitting.map((interval) => [interval, t.analytics.intervals[interval]] as const)}
      onChange={(interval) => change({ interval })}
    />
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
  const change = useAddressChange()
  return (from, to) => {
    if (view.interval === 'hour' && from === to) return
    const starts = buckets.map(({ start }) => start)
    const period = zoomedPeriod(starts, view.period.to, [from, to], view.interval)
    if (period !== undefined) change({ ...period, period: undefined, interval: undefined })
  }
}

/** Over a plot that has nothing to show: no click, or nothing that is known. */
function EmptyChart({ view, data }: { view: View; data: SeriesData }) {
  const t = useText()
  const change = useAddressChange()
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

type SeriesTableProps = {
  readonly caption: string
  readonly data: SeriesData
  readonly interval: Interval
  readonly formats: ChartFormats
}

/** The numbers of the lines, the newest first. */
function SeriesTable({ caption, data, interval, formats }: SeriesTableProps) {
  const t = useText()
  const rows = data.buckets
    .slice(0, data.begun)
    .map((bucket, nth) => ({ bucket, before: data.before[nth] }))
  // Visitors of the days of a zone are mostly unknown; those of UTC have a line and a table of their own.
  const measures = MEASURES.filter((measure) => !isUnknown(data.buckets, data.begun, measure))
  const cells = (bucket: Bucket | undefined) =>
    measures.map((measure) => {
      const value = bucket?.[measure]
      return <td key={measure}>{typeof value === 'number' ? formats.number(value) : '–'}</td>
    })
  const hasBefore = data.before.length > 0
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll" tabIndex={0} aria-label={caption}>
      <table className="dt">
        <caption className="sr">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{t.analytics.intervals[interval]}</th>
            {measures.map((measure) => (
              <th key={measure} scope="col">
                {t.analytics.measures[measure]}
              </th>
            ))}
            {hasBefore && <th scope="col">{t.analytics.before}</th>}
            {hasBefore &&
              measures.map((measure) => (
                <th key={measure} scope="col">
                  <span className="sr">{t.analytics.before}: </span>
                  {t.analytics.measures[measure]}
                </th>
              ))}
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map(({ bucket, before }) => (
            <tr key={bucket.start}>
              <th scope="row">{bucketName(bucket.start, interval, formats)}</th>
              {cells(bucket)}
              {hasBefore && <td>{before && bucketName(before.start, interval, formats)}</td>}
              {hasBefore && cells(before)}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
