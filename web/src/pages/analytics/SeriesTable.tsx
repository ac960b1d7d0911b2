import type { ChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { type Interval, MEASURES } from './analytics-search.ts'
import { type Bucket, isUnknown } from './buckets.ts'
import { bucketName, type SeriesData } from './series-data.ts'

type SeriesTableProps = {
  readonly caption: string
  readonly data: SeriesData
  readonly interval: Interval
  readonly formats: ChartFormats
}

/** The numbers of the lines, the newest first. */
export function SeriesTable({ caption, data, interval, formats }: SeriesTableProps) {
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
