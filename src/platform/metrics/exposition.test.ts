import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Histogram } from './histogram.ts'
import { formatMetrics, labelled, type Metric, mergeExpositions, plain } from './metric.ts'

const latency = new Histogram([0.5, 1])
for (const seconds of [0.25, 0.75, 3]) latency.observe(seconds)

const METRICS: readonly Metric[] = [
  plain('gauge', 'terse_one', 'A back\\slash\nand a line.', 1.5),
  plain('gauge', 'terse_none', 'Unknown now.', undefined),
  labelled('counter', 'terse_many_total', 'By kind.', 'kind', [
    ['a "b"\n\\', 2],
    ['infinite', Number.POSITIVE_INFINITY],
  ]),
  { type: 'histogram', name: 'terse_seconds', help: 'How long.', histogram: latency },
]

describe('formatMetrics and mergeExpositions', () => {
  test('write help and type, escaped labels, and the buckets of histograms', () => {
    assert.equal(
      formatMetrics(METRICS, { process: '1' }),
      String.raw`# HELP terse_one A back\\slash\nand a line.
# TYPE terse_one gauge
terse_one{process="1"} 1.5
# HELP terse_none Unknown now.
# TYPE terse_none gauge
# HELP terse_many_total By kind.
# TYPE terse_many_total counter
terse_many_total{process="1",kind="a \"b\"\n\\"} 2
terse_many_total{process="1",kind="infinite"} +Inf
# HELP terse_seconds How long.
# TYPE terse_seconds histogram
terse_seconds_bucket{process="1",le="0.5"} 1
terse_seconds_bucket{process="1",le="1"} 2
terse_seconds_bucket{process="1",le="+Inf"} 3
terse_seconds_sum{process="1"} 4
terse_seconds_count{process="1"} 3
`,
    )
  })

  test('write the values of several processes under one heading for each metric', () => {
    const texts = ['1', '2'].map((process) => formatMetrics(METRICS.slice(0, 2), { process }))
    assert.equal(
      mergeExpositions(texts),
      String.raw`# HELP terse_one A back\\slash\nand a line.
# TYPE terse_one gauge
terse_one{process="1"} 1.5
terse_one{process="2"} 1.5
# HELP terse_none Unknown now.
# TYPE terse_none gauge
`,
    )
    const [one = ''] = texts
    assert.equal(mergeExpositions([one]), one)
  })
})
