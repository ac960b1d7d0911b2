import { labelled, type MetricSource } from '../../platform/metrics/metric.ts'
import type { WorkQueues } from '../../platform/work/work-queues.ts'

export function queueMetrics(queues: WorkQueues): MetricSource {
  return () => [
    labelled(
      'gauge',
      'terse_work_running',
      'Running tasks of expensive work, by kind.',
      'work',
      queues.all.map(({ work, running }) => [work, running]),
    ),
    labelled(
      'gauge',
      'terse_work_waiting',
      'Waiting tasks of expensive work, by kind.',
      'work',
      queues.all.map(({ work, waiting }) => [work, waiting]),
    ),
    labelled(
      'counter',
      'terse_work_refused_total',
      'Refused tasks of expensive work: too many were waiting, or the wait was too long.',
      'work',
      queues.all.map(({ work, refused }) => [work, refused]),
    ),
  ]
}
