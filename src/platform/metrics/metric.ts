import type { Histogram } from './histogram.ts'

export type Labels = Readonly<Record<string, string>>

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
