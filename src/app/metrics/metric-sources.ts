import type { Nodes } from '../../operations/nodes/nodes.ts'
import type { CacheUse } from '../../platform/cache/coherent-cache.ts'
import { staleCache } from '../../platform/cache/stale-cache.ts'
import type { ChangeFollower } from '../../platform/changes/changes.ts'
import type { ApiMeter } from '../../platform/http/api/request-timing.ts'
import { labelled, type Metric, type MetricSource, plain } from '../../platform/metrics/metric.ts'
import type { Readiness } from '../../platform/process/readiness.ts'
import type { VisitMeter } from '../../redirects/visit-meter.ts'
import type { Instance } from '../instance/instance.ts'

/** How often counts are queried that are the same on every node and read many rows. */
const STATES_KEEP_MS = 30_000
const STATES_PATIENCE_MS = 500

/** The number of rows in each state. */
export type StateCounts = readonly { readonly state: string; readonly count: number }[]

export function readinessMetrics(readiness: Readiness): MetricSource {
  return async () => [
    labelled(
      'gauge',
      'terse_ready',
      'Whether the node can do the work of each of its roles, as /readyz reports.',
      'role',
      [...(await readiness.check())].map(([role, can]) => [role, can ? 1 : 0]),
    ),
  ]
}

export function visitMetrics(meter: VisitMeter): MetricSource {
  return () => [
    labelled(
      'counter',
      'terse_visits_total',
      'Visits to links, by how they ended.',
      'outcome',
      Object.entries(meter.counts),
    ),
    {
      type: 'histogram',
      name: 'terse_visit_duration_seconds',
      help: 'Time from the head of a visit to its answer.',
      histogram: meter.latency,
    },
  ]
}

export function apiMetrics(meter: ApiMeter): MetricSource {
  return () => [
    {
      type: 'counter',
      name: 'terse_api_requests_total',
      help: 'Requests to the API, by route and the status of the answer.',
      samples: Array.from(meter.counts, ({ method, route, status, answers }) => ({
        labels: { method, route, status: String(status) },
        value: answers,
      })),
    },
    {
      type: 'histogram',
      name: 'terse_api_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer.',
      histogram: meter.latency,
    },
  ]
}

/** @param usesOf the caches by their names */
export function cacheMetrics(usesOf: () => Readonly<Record<string, CacheUse>>): MetricSource {
  return () => {
    const uses = Object.entries(usesOf())
    const each = (value: (use: CacheUse) => number) =>
      uses.map(([cache, use]) => [cache, value(use)] as const)
    const lookups = uses.flatMap(([cache, { hits, absences, misses }]) =>
      Object.entries({ hit: hits, absent: absences, miss: misses }).map(([result, value]) => ({
        labels: { cache, result },
        value,
      })),
    )
    return [
      {
        type: 'counter',
        name: 'terse_cache_lookups_total',
        help: 'Cache lookups. hit: cached; absent: known not to exist; miss: read from the store.',
        samples: lookups,
      },
      labelled(
        'gauge',
        'terse_cache_entries',
        'Cached entries.',
        'cache',
        each(({ entries }) => entries),
      ),
      labelled(
        'gauge',
        'terse_cache_fullness_ratio',
        'Used share of the cache’s capacity.',
        'cache',
        each(({ fullness }) => fullness),
      ),
    ]
  }
}

export function storeMetrics(
  { poolUses }: Pick<Instance, 'poolUses'>,
  follower: ChangeFollower,
  isStoreAvailable: () => Promise<boolean>,
): MetricSource {
  return async () => {
    const pools = [...poolUses()]
    const isAvailable = await isStoreAvailable()
    return [
      plain('gauge', 'terse_database_up', 'Whether the database answers.', isAvailable ? 1 : 0),
      {
        type: 'gauge',
        name: 'terse_database_connections',
        help: 'Connections of the pools.',
        samples: pools.flatMap(([pool, { used, idle }]) =>
          Object.entries({ used, idle }).map(([state, value]) => ({
            labels: { pool, state },
            value,
          })),
        ),
      },
      labelled(
        'gauge',
        'terse_database_connections_max',
        'How many connections a pool may have.',
        'pool',
        pools.map(([pool, { max }]) => [pool, max]),
      ),
      labelled(
        'gauge',
        'terse_database_connections_waiting',
        'Queries that wait for a connection.',
        'pool',
        pools.map(([pool, { waiting }]) => [pool, waiting]),
      ),
      plain(
        'gauge',
        'terse_change_log_lag_seconds',
        'Age of the last moment at which this process knew every change of all processes.',
        follower.lagMs() / 1_000,
      ),
    ]
  }
}

/** The same on every node: query one node, or take the maximum. */
export function nodeMetrics(nodes: Nodes): MetricSource {
  const list = staleCache({
    load: () => nodes.list(),
    ageMsMax: STATES_KEEP_MS,
    waitMsMax: STATES_PATIENCE_MS,
  })
  return async () => {
    const listed = await list()
    const lost = listed?.filter(({ state }) => state === 'lost')
    const states = Object.entries({
      up: listed && listed.length - (lost?.length ?? 0),
      lost: lost?.length,
    })
    return [
      labelled(
        'gauge',
        'terse_nodes',
        'Processes that serve, and lost processes that have not come back.',
        'state',
        states.flatMap(([state, count]) => (count === undefined ? [] : [[state, count] as const])),
      ),
      plain(
        'gauge',
        'terse_lost_nodes_backlog_bytes',
        'Journal backlog of lost nodes at their last heartbeat.',
        lost?.reduce((sum, { backlog_bytes }) => sum + backlog_bytes, 0),
      ),
    ]
  }
}

/** The same on every node: query one node, or take the maximum. */
export function stateMetrics(
  name: string,
  help: string,
  load: () => Promise<StateCounts>,
): MetricSource {
  const counts = staleCache({ load, ageMsMax: STATES_KEEP_MS, waitMsMax: STATES_PATIENCE_MS })
  return async (): Promise<readonly Metric[]> => [
    labelled(
      'gauge',
      name,
      help,
      'state',
      ((await counts()) ?? []).map(({ state, count }) => [state, count]),
    ),
  ]
}
