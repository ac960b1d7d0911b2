import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ClickSeries } from '../../api/clicks.ts'
import { CloseIcon, DownloadIcon, TableIcon } from '../../icons/index.ts'
import { CountedUntil, LoadFailure } from '../../shell/LoadFailure.tsx'
import { type ChartFormats, useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { LinkName } from '../../widgets/LinkName.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { downloadCsv } from '../../widgets/save-file.ts'
import { MEASURES, toggled } from './analytics-search.ts'
import { useAddressChange } from './ChangeLink.tsx'
import { useLinkNames } from './groups.ts'
import { Plot } from './Plot.tsx'
import { lineQuery } from './reports.ts'
import { IntervalChoice, useZoom, ZoomHint } from './SeriesChart.tsx'
import {
  axisLabel,
  bucketName,
  isUnknown,
  knownText,
  rangeText,
  type SeriesData,
  seriesData,
} from './series-data.ts'
import type { View } from './view.ts'

/** A link that is compared. */
type ComparedLink = {
  readonly id: string
  readonly name: string
  /** The colour of its line. */
  readonly look: string
  readonly total: ClickSeries['total'] | undefined
  readonly data: SeriesData | undefined
}

/** Up to five links beside each other: a line and the figures of each. */
export function ComparisonChart({ view }: { view: View }) {
  const t = useText()
  const formats = useChartFormats(view.lineZone)
  const [isTable, setTable] = useState(false)
  const { links: ids, tags } = view.scope
  const names = useLinkNames(ids)
  const answers = useQueries({
    queries: ids.map((id) => lineQuery({ ...view, scope: { links: [id], tags } })),
  })
  const links = answers.map(
    ({ data }, nth): ComparedLink => ({
      id: ids[nth] ?? '',
      name: names[nth] ?? '',
      look: `s${nth + 1}`,
      total: data?.total,
      data: data && seriesData(data, undefined, view),
    }),
  )
  const failed = answers.find(({ data, error }) => data === undefined && error !== null)
  const name = t.analytics.by[view.interval](t.analytics.measures[view.measure])
  const isMissing = links.some(
    ({ data }) => data !== undefined && isUnknown(data.buckets, data.begun, view.measure),
  )
  return (
    <>
      {failed?.error && <LoadFailure error={failed.error} />}
      <ComparedLinks links={links} view={view} />
      <CountedUntil
        instant={answers.find(({ data }) => data?.counted_until)?.data?.counted_until}
      />
      <div className="chart">
        <div className="chart-h">
          <MeasureChoice view={view} />
          <span>{rangeText(view.period, formats)}</span>
          <ZoomHint view={view} />
          <div className="end">
            <IntervalChoice view={view} />
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
              onClick={() => downloadCsv('compared-links', csvRows(links, view))}
            />
          </div>
        </div>
        <div className="plot-space">
          {isTable ? (
            <ComparisonTable caption={name} links={links} view={view} formats={formats} />
          ) : (
            <ComparisonPlot links={links} view={view} name={name} />
          )}
        </div>
        {isMissing && <p className="hint">{t.analytics.unknownVisitors}</p>}
      </div>
    </>
  )
}

type ComparedProps = { readonly links: readonly ComparedLink[]; readonly view: View }

function ComparedLinks({ links, view }: ComparedProps) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const change = useAddressChange()
  return (
    <ul className="compared" aria-label={t.analytics.comparedLinks(links.length)}>
      {links.map(({ id, name, look, total }) => (
        <li key={id}>
          <Link to="/links/$linkId" params={{ linkId: id }} className={`key ${look}`}>
            <LinkName name={name} />
          </Link>
          <span className="v">{total && totalText(total[view.measure], formats)}</span>
          <IconButton
            icon={CloseIcon}
            small
            label={t.analytics.removeLink(name)}
            onClick={() => change({ link: toggled(view.scope.links, id) })}
          />
        </li>
      ))}
    </ul>
  )
}

function totalText(total: number | null | undefined, formats: ChartFormats): string {
  return typeof total === 'number' ? formats.number(total) : '–'
}

function MeasureChoice({ view }: { view: View }) {
  const t = useText()
  const change = useAddressChange()
  return (
    <SegmentedControl
      label={t.analytics.measure}
      value={view.measure}
      choices={MEASURES.map((measure) => [measure, t.analytics.measures[measure]] as const)}
      onChange={(measure) => change({ measure: measure === 'clicks' ? undefined : measure })}
    />
  )
}

function ComparisonPlot({ links, view, name }: ComparedProps & { name: string }) {
  const t = useText()
  const formats = useChartFormats(view.lineZone)
  const first = links.find(({ data }) => data !== undefined)?.data
  const zoom = useZoom(view, first?.buckets ?? [])
  if (first === undefined) return null
  const { measure, interval } = view
  const shown = links.flatMap(({ data, ...link }) =>
    data === undefined ? [] : [{ ...link, data }],
  )
  return (
    <Plot
      label={`${name}, ${rangeText(view.period, formats)}`}
      count={first.buckets.length}
      lines={shown.map(({ id, look, name: label, data }) => ({
        id,
        look,
        label,
        values: data.buckets.slice(0, data.begun).map((bucket) => bucket[measure]),
        isUnfinished: data.isUnfinished,
      }))}
      pointLabel={(index) => axisLabel(index, first, interval, formats, t)}
      valueLabel={formats.short}
      readOut={(index) => ({
        title: bucketName(first.buckets[index]?.start ?? '', interval, formats),
        rows: shown.flatMap(({ look, name: link, data }) => {
          const bucket = index < data.begun ? data.buckets[index] : undefined
          if (bucket === undefined) return []
          return [{ look, name: link, value: knownText(bucket[measure], formats, t) }]
        }),
      })}
      onZoom={zoom}
    />
  )
}

function csvRows(links: readonly ComparedLink[], { measure }: View) {
  const buckets = links.find(({ data }) => data !== undefined)?.data?.buckets ?? []
  const head = ['start', ...links.map(({ name }) => name)]
  const rows = buckets.map(({ start }, nth) => [
    start,
    ...links.map(({ data }) => data?.buckets[nth]?.[measure] ?? null),
  ])
  return [head, ...rows]
}

type ComparisonTableProps = {
  readonly caption: string
  readonly links: readonly ComparedLink[]
  readonly view: View
  readonly formats: ChartFormats
}

/** The numbers of the lines of compared links, the newest first. */
function ComparisonTable({ caption, links, view, formats }: ComparisonTableProps) {
  const t = useText()
  const first = links.find(({ data }) => data !== undefined)?.data
  const starts = (first?.buckets.slice(0, first.begun) ?? []).map(({ start }, nth) => ({
    start,
    nth,
  }))
  const textOf = (value: number | null | undefined) =>
    typeof value === 'number' ? formats.number(value) : '–'
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll" tabIndex={0} aria-label={caption}>
      <table className="dt">
        <caption className="sr">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{t.analytics.intervals[view.interval]}</th>
            {links.map(({ id, name }) => (
              <th key={id} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {starts.toReversed().map(({ start, nth }) => (
            <tr key={start}>
              <th scope="row">{bucketName(start, view.interval, formats)}</th>
              {links.map(({ id, data }) => (
                <td key={id}>{textOf(data?.buckets[nth]?.[view.measure])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
