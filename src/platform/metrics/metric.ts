import type { Histogram } from './histogram.ts'

export type Labels = Readonly<Record<string, string>>

/** One number of a metric. */
type Sample = {
  readonly labels?: Labels
  readonly value: number
}

/** What can be measured, under its Prometheus name; units are seconds and bytes. */
export type Metric = {
  readonly name: string
  readonly help: string
} & (
  | {
      /** A counter only ever rises, until its process ends; its name ends with `_total`. */
      readonly type: 'counter' | 'gauge'
      /** None for what cannot be said now. */
      readonly samples: readonly Sample[]
    }
  | { readonly type: 'histogram'; readonly histogram: Histogram }
)

/** Looks at what is being measured; at each scrape, so it must be cheap. */
export type MetricSource = () => readonly Metric[] | Promise<readonly Metric[]>

/** A metric with one number; with none where it is undefined. */
export function plain(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: number | undefined,
): Metric {
  return { type, name, help, samples: value === undefined ? [] : [{ value }] }
}

/** A metric with a number for each value of one label. */
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
