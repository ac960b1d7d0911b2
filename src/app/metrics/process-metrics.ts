import { performance } from 'node:perf_hooks'
import { labelled, type MetricSource, plain } from '../../platform/metrics/metric.ts'
import { VERSION } from '../../platform/process/version.ts'

export function processMetrics(engine: string): MetricSource {
  return () => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const { active, idle } = performance.eventLoopUtilization()
    return [
      {
        type: 'gauge',
        name: 'terse_build_info',
        help: 'Version of the program and its engine; always 1.',
        samples: [{ labels: { version: VERSION, node: process.versions.node, engine }, value: 1 }],
      },
      plain(
        'counter',
        'process_cpu_seconds_total',
        'Processor time, of all threads.',
        (user + system) / 1e6,
      ),
      plain('gauge', 'process_resident_memory_bytes', 'Memory in use.', rss),
      plain(
        'gauge',
        'process_start_time_seconds',
        'When the process started, since 1970.',
        performance.timeOrigin / 1_000,
      ),
      plain('gauge', 'nodejs_heap_size_used_bytes', 'Used heap of the main thread.', heapUsed),
      labelled(
        'counter',
        'terse_event_loop_seconds_total',
        'Time of the main thread by state; idle: it waited for events.',
        'state',
        [
          ['active', active / 1_000],
          ['idle', idle / 1_000],
        ],
      ),
    ]
  }
}
