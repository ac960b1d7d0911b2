import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { ConversionReportResource } from '../../api/conversions.ts'
import { DownloadIcon, TableIcon } from '../../icons/index.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useMoneyFormats } from '../../text/use-money-formats.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { downloadCsv } from '../../widgets/save-file.ts'
import { useAddressChange } from '../analytics/ChangeLink.tsx'
import {
  percent,
  type ReadOut,
  ReadOutBox,
  Rule,
  spoken,
  usePlotCursor,
} from '../analytics/Plot.tsx'
import { pointLabels } from '../analytics/scale.ts'
import { axisLabel, bucketName, progressOf, rangeText } from '../analytics/series-data.ts'
import { type Column, columnAt, columnScale } from './columns.ts'
import {
  COUNT,
  type ConversionPoint,
  type ConversionView,
  clicksLineQuery,
  inUnit,
  netInUnit,
} from './conversion-view.ts'

/** Of the currencies that the switch offers; the others are chosen in their list. */
const UNITS_MAX = 4

type ChartProps = {
  readonly view: ConversionView
  readonly report: ConversionReportResource | undefined
  /** A currency, or `count`. */
  readonly unit: string
  readonly isStale: boolean
}

/** Conversions over time as columns or as a table; refunds are below zero. */
export function ConversionChart({ view, report, unit, isStale }: ChartProps) {
  const t = useText()
  const [isTable, setTable] = useState(false)
  const change = useAddressChange()
  const chart = useChart(view, report?.points ?? [], unit, report?.to ?? '')
  const currencies = report?.total.values.map(({ currency }) => currency) ?? []
  const offered = [...new Set([...currencies.slice(0, UNITS_MAX), unit])].filter(
    (one) => one !== COUNT,
  )
  const hasRefunds = chart.columns.some(({ down }) => down < 0)
  return (
    <div className="chart">
      <div className="chart-h">
        <span className="key col">{chart.measure}</span>
        {hasRefunds && <span className="key col back">{t.conversions.refunds}</span>}
        <div className="end">
          {offered.length > 0 && (
            <SegmentedControl
              label={t.conversions.unit}
              value={unit}
              choices={[
                [COUNT, t.conversions.count],
                ...offered.map((currency) => [currency, currency] as const),
              ]}
              onChange={(chosen) => change({ unit: chosen })}
            />
          )}
          <IconButton
            icon={TableIcon}
            className={isTable ? 'on' : ''}
            aria-pressed={isTable}
            label={isTable ? t.analytics.showChart : t.analytics.showTable}
            onClick={() => setTable(!isTable)}
          />
          <IconButton
            icon={DownloadIcon}
            label={t.analytics.downloadOf(chart.name)}
            disabled={report === undefined}
            onClick={() => downloadCsv(`conversions-${view.interval}`, chart.csv)}
          />
        </div>
      </div>
      <div className="plot-space" aria-busy={isStale}>
        {report !== undefined && isTable && <ChartTable {...chart} />}
        {report !== undefined && !isTable && (
          <>
            <Columns {...chart} />
            {report.total.conversions + report.total.refunds === 0 && (
              <div className="nothing">
                <div>
                  <b>{t.conversions.noneInPeriod}</b>
                  <span>{t.conversions.noneInPeriodHint}</span>
                </div>
              </div>
            )}
          </>
        )}
      </div>
    </div>
  )
}

/** What columns and table show, in words and numbers. */
function useChart(
  view: ConversionView,
  points: readonly ConversionPoint[],
  unit: string,
  end: string,
) {
  const t = useText()
  const { clicks, interval } = view
  const formats = useChartFormats(clicks.timezone)
  const money = useMoneyFormats()
  const { data: series } = useQuery(clicksLineQuery(view))
  const visited = new Map(series?.data.map((point) => [point.start, point.clicks ?? 0]))
  const buckets = points.map(({ start }) => ({ start, clicks: 0, bots: 0, visitors: null }))
  const progress = progressOf(buckets, end, clicks.now)
  const measure = unit === COUNT ? t.conversions.title : `${t.conversions.value}, ${unit}`
  const textOf = (value: number) =>
    unit === COUNT ? formats.number(value) : `${money.amount(value, unit)} ${unit}`
  const rows = points.slice(0, progress.begun)
  const name = t.analytics.by[interval](measure)
  return {
    ...{ measure, name, rows, unit, visited, textOf, ...progress },
    label: `${name}, ${rangeText(clicks.period, formats)}`,
    columns: points.map((point): Column => {
      const { gross, refunded } = inUnit(point, unit)
      return { up: gross, down: refunded }
    }),
    tickText: (value: number) => (unit === COUNT ? formats.short(value) : money.short(value, unit)),
    axisText: (index: number) => axisLabel(index, { buckets, ...progress }, interval, formats, t),
    nameOf: ({ start }: ConversionPoint) => bucketName(start, interval, formats),
    number: formats.number,
    csv: [
      ['start', 'conversions', 'refunds', 'clicks', ...(unit === COUNT ? [] : [`value_${unit}`])],
      ...rows.map((point) => [
        ...[point.start, point.conversions, point.refunds, visited.get(point.start) ?? null],
        ...(unit === COUNT ? [] : [netInUnit(point, unit)]),
      ]),
    ],
  }
}

type Chart = ReturnType<typeof useChart>

function useReadOut(chart: Chart): (index: number) => ReadOut {
  const t = useText()
  return (index) => {
    const point = chart.rows[index]
    if (point === undefined) return { title: chart.axisText(index), rows: [] }
    const { refunded } = inUnit(point, chart.unit)
    const clicks = chart.visited.get(point.start)
    const rows: { look: string; name: string; value: string }[] = []
    const add = (look: string, name: string, value: string) => rows.push({ look, name, value })
    add('col', chart.measure, chart.textOf(netInUnit(point, chart.unit)))
    if (refunded < 0) add('col back', t.conversions.refunds, chart.textOf(refunded))
    if (chart.unit !== COUNT) add('none', t.conversions.title, chart.number(point.conversions))
    if (clicks !== undefined) add('none', t.analytics.measures.clicks, chart.number(clicks))
    return { title: chart.nameOf(point), rows }
  }
}

function Columns(chart: Chart) {
  const t = useText()
  const readOut = useReadOut(chart)
  const { columns, begun, isUnfinished } = chart
  const count = columns.length
  const newest = Math.max(0, begun - 1)
  const { at, handlers } = usePlotCursor(count, newest, undefined, columnAt)
  const { ticks, placeOf } = columnScale(columns)
  const shown = at === undefined ? undefined : readOut(at)
  const middle = (index: number) => (index + 0.5) / count
  return (
    <div className="plot in-columns">
      {ticks.map((tick) => (
        <Rule key={tick} top={percent(placeOf(tick))} isBase={tick === 0}>
          {chart.tickText(tick)}
        </Rule>
      ))}
      {columns.map(({ up, down }, index) => (
        <ColumnPair
          // biome-ignore lint/suspicious/noArrayIndexKey: intervals have no other name
          key={index}
          left={percent((index + 0.15) / count)}
          width={percent(0.7 / count)}
          look={isUnfinished && index === newest ? 'part' : index === at ? 'at' : ''}
          up={[placeOf(up), placeOf(0)]}
          down={[placeOf(0), placeOf(down)]}
        />
      ))}
      {pointLabels(count).map(({ index, isSpare }) => (
        <Label
          key={index}
          isSpare={isSpare}
          isLast={index === count - 1}
          left={percent(middle(index))}
        >
          {chart.axisText(index)}
        </Label>
      ))}
      <div
        className="hit"
        // A slider: screen readers announce each value that the arrow keys reach.
        role="slider"
        tabIndex={0}
        aria-label={chart.label}
        aria-description={t.analytics.readHint}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, count)}
        aria-valuenow={(at ?? newest) + 1}
        aria-valuetext={spoken(shown ?? readOut(newest))}
        {...handlers}
      />
      {shown !== undefined && at !== undefined && <ReadOutBox readOut={shown} share={middle(at)} />}
    </div>
  )
}

type Span = readonly [from: number, to: number]

type ColumnPairProps = {
  readonly left: string
  readonly width: string
  readonly look: string
  readonly up: Span
  readonly down: Span
}

function ColumnPair({ left, width, look, up, down }: ColumnPairProps) {
  const place = ([from, to]: Span) => ({
    left,
    width,
    top: percent(from),
    height: percent(to - from),
  })
  return (
    <>
      {up[1] > up[0] && <i className={`column ${look}`} style={place(up)} />}
      {down[1] > down[0] && <i className="column back" style={place(down)} />}
    </>
  )
}

type LabelProps = {
  readonly left: string
  readonly isSpare: boolean
  readonly isLast: boolean
  readonly children: ReactNode
}

function Label({ left, isSpare, isLast, children }: LabelProps) {
  const className = `x-label ${isSpare ? 'spare' : ''} ${isLast ? 'last' : ''}`
  return (
    <span className={className} style={{ left: isLast ? '100%' : left }}>
      {children}
    </span>
  )
}

/** The numbers of the columns, the newest first. */
function ChartTable({ name, rows, unit, visited, textOf, nameOf, number }: Chart) {
  const t = useText()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll" tabIndex={0} aria-label={name}>
      <table className="dt">
        <caption className="sr">{name}</caption>
        <thead>
          <tr>
            <th scope="col">{t.analytics.period}</th>
            <th scope="col">{t.conversions.title}</th>
            <th scope="col">{t.conversions.refunds}</th>
            <th scope="col">{t.analytics.measures.clicks}</th>
            {unit !== COUNT && <th scope="col">{t.conversions.value}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map((point) => (
            <tr key={point.start}>
              <th scope="row">{nameOf(point)}</th>
              <td>{number(point.conversions)}</td>
              <td>{number(point.refunds)}</td>
              <td>{number(visited.get(point.start) ?? 0)}</td>
              {unit !== COUNT && <td>{textOf(netInUnit(point, unit))}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
