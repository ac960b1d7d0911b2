import type { Histogram } from './histogram.ts'

type Labels = Readonly<Record<string, string>>

/** One value of a metric. */
type Sample = {
  readonly labels?: Labels
  readonly value: number
}

/** A metric with its Prometheus name; units are seconds and bytes. */
export type Metric = {
  readonly name: string
  readonly help: string
} & (
  | {
      /** A counter never decreases while its process runs; its name ends with `_total`. */
      readonly type: 'counter' | 'gauge'
      /** Empty when the value is currently unknown. */
      readonly samples: readonly Sample[]
    }
  | { readonly type: 'histogram'; readonly histogram: Histogram }
)

/** Measures; called at each scrape, so it must be cheap. */
export type MetricSource = () => readonly Metric[] | Promise<readonly Metric[]>

/** Creates a metric with one sample, or without samples when the value is undefined. */
export function plain(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: number | undefined,
): Metric {
  return { type, name, help, samples: value === undefined ? [] : [{ value }] }
}

/** Creates a metric with one sample for each value of a label. */
export function labelled(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  label: string,
  values: Iterable<readonly [string, number]>,
): Metric {
  const samples = Array.from(values, ([value, number]) => ({
    labels: { [label]: value },
    value: number,
  }))
  return { type, name, help, samples }
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const HELP = '# HELP '

/**
 * Formats metrics in the text format of Prometheus
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 *
 * @param common labels added to every sample
 */
export function formatMetrics(metrics: readonly Metric[], common: Labels): string {
  return metrics
    .map((metric) => {
      const head = `${HELP}${metric.name} ${escapeHelp(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n`
      return head + linesOf(metric, common).join('')
    })
    .join('')
}

/** Merges expositions of several processes of this program, whose samples differ in a label. */
export function mergeExpositions(texts: readonly string[]): string {
  /** The samples of each metric, by its two comment lines. */
  const merged = new Map<string, string>()
  for (const text of texts) {
    for (const part of text.split(new RegExp(`^(?=${HELP})`, 'm'))) {
      const numbers = part.search(/^[^#]/m)
      const head = numbers === -1 ? part : part.slice(0, numbers)
      merged.set(head, (merged.get(head) ?? '') + part.slice(head.length))
    }
  }
  return [...merged].map(([head, lines]) => head + lines).join('')
}

function linesOf(metric: Metric, common: Labels): string[] {
  if (metric.type === 'histogram') return histogramLines(metric.name, metric.histogram, common)
  return metric.samples.map(({ labels, value }) =>
    line(metric.name, { ...common, ...labels }, value),
  )
}

function histogramLines(name: string, { bounds, cumulated, sum }: Histogram, common: Labels) {
  const total = cumulated.at(-1) ?? 0
  return [
    ...bounds.map((bound, index) =>
      line(`${name}_bucket`, { ...common, le: String(bound) }, cumulated[index] ?? 0),
    ),
    line(`${name}_bucket`, { ...common, le: '+Inf' }, total),
    line(`${name}_sum`, common, sum),
    line(`${name}_count`, common, total),
  ]
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}{${pairs.join(',')}} ${formatValue(value)}\n`
}

function formatValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return String(value)
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
