import { labelled, type MetricSource } from '../../platform/metrics/metric.ts'
import type { WorkQueues } from '../../platform/work/work-queues.ts'

export function queueMetrics(queues: WorkQueues): MetricSource {
  return () => [
    labelled(
      'gauge',
      'terse_work_running',
      'Pieces of expensive work that run, by their kind.',
      'work',
      queues.all.map(({ work, running }) => [work, running]),
    ),
    labelled(
      'gauge',
      'terse_work_waiting',
      'Pieces of expensive work that wait for their turn.',
      'work',
      queues.all.map(({ work, waiting }) => [work, waiting]),
    ),
    labelled(
      'counter',
      'terse_work_refused_total',
      'Pieces of expensive work that were refused: too many were waiting, or their turn came too late.',
      'work',
      queues.all.map(({ work, refused }) => [work, refused]),
    ),
  ]
}
