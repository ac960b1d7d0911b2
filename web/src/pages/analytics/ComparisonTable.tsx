import type { ChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import type { ComparedLink } from './compared-link.ts'
import { bucketName } from './series-data.ts'
import type { View } from './view.ts'

type ComparisonTableProps = {
  readonly caption: string
  readonly links: readonly ComparedLink[]
  readonly view: View
  readonly formats: ChartFormats
}

/** The numbers of the lines of compared links, the newest first. */
export function ComparisonTable({ caption, links, view, formats }: ComparisonTableProps) {
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
