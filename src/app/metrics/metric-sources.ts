import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import { sumOfBacklogs } from '../../clicks/journal/journal-backlog.ts'
import type { ClickCap } from '../../clicks/record/click-cap.ts'
import type { Nodes } from '../../operations/nodes/nodes.ts'
import type { CacheUse } from '../../platform/cache/coherent-cache.ts'
import { staleCache } from '../../platform/cache/stale-cache.ts'
import type { ChangeFollower } from '../../platform/changes/change-follower.ts'
import type { ApiMeter } from '../../platform/http/api/api-meter.ts'
import { labelled, type Metric, type MetricSource, plain } from '../../platform/metrics/metric.ts'
import type { Readiness } from '../../platform/process/readiness.ts'
import type { VisitMeter } from '../../redirects/visit-meter.ts'
import type { Instance } from '../instance/instance.ts'

/** What is the same on every node and takes a look at many rows is looked up this often. */
const STATES_KEEP_MS = 30_000
const STATES_PATIENCE_MS = 500

/** How many there are of each state. */
export type StateCounts = readonly { readonly state: string; readonly count: number }[]

export function readinessMetrics(readiness: Readiness): MetricSource {
  return async () => [
    labelled(
      'gauge',
      'terse_ready',
      'Whether the node can play each of its roles, as /readyz tells it.',
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
      help: 'From a visit’s head to its answer.',
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
      help: 'From a request’s head to the end of its answer.',
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
        help: 'Look-ups in memory. A hit was there, absent is known not to exist, a miss asks the store.',
        samples: lookups,
      },
      labelled(
        'gauge',
        'terse_cache_entries',
        'What is in memory.',
        'cache',
        each(({ entries }) => entries),
      ),
      labelled(
        'gauge',
        'terse_cache_fullness_ratio',
        'How much of the room for it is taken.',
        'cache',
        each(({ fullness }) => fullness),
      ),
    ]
  }
}

export function clickMetrics(
  intake: ClickIntake,
  cap: ClickCap | undefined,
  nowMicros: () => number,
): MetricSource {
  return () => {
    const { progress } = intake
    const held = intake.held()
    const { bytes, oldestMicros } = sumOfBacklogs(held)
    const ageSeconds = oldestMicros === undefined ? 0 : (nowMicros() - oldestMicros) / 1e6
    const total = (name: string, help: string, value: number) => plain('counter', name, help, value)
    return [
      total('terse_clicks_recorded_total', 'Clicks written to the journal.', intake.recorded),
      total(
        'terse_clicks_capped_total',
        'Clicks of one address on one link beyond TERSE_CLICK_CAP_PER_MINUTE, counted as bots.',
        cap?.capped ?? 0,
      ),
      total('terse_clicks_lost_total', 'Clicks that could not be written.', intake.lost),
      total(
        'terse_clicks_doubtful_total',
        'Clicks that a failing disk may not have taken.',
        intake.doubtful,
      ),
      total(
        'terse_clicks_drained_total',
        'Clicks taken from journals into the database.',
        progress.clicks,
      ),
      total(
        'terse_clicks_without_row_total',
        'Of them, clicks of one workspace beyond TERSE_RAW_CLICKS_PER_MINUTE, which exports lack.',
        progress.withoutRow,
      ),
      total('terse_drain_batches_total', 'Transactions that did so.', progress.batches),
      total('terse_drain_failures_total', 'Transactions that failed to.', progress.failures),
      total('terse_drain_seconds_total', 'Time that the database took for it.', progress.seconds),
      plain(
        'gauge',
        'terse_journal_backlog_bytes',
        'What waits in this node’s journal, and in those that it has taken over.',
        bytes,
      ),
      plain(
        'gauge',
        'terse_journal_backlog_age_seconds',
        'For how long its oldest click has waited.',
        Math.max(0, ageSeconds),
      ),
      plain(
        'gauge',
        'terse_journal_orphans',
        'Journals of killed processes that are being taken in.',
        held.length - 1,
      ),
    ]
  }
}

export function storeMetrics(
  { poolUses }: Pick<Instance, 'poolUses'>,
  follower: ChangeFollower,
  isStoreThere: () => Promise<boolean>,
): MetricSource {
  return async () => {
    const pools = [...poolUses()]
    const isThere = await isStoreThere()
    return [
      plain('gauge', 'terse_database_up', 'Whether the database answers.', isThere ? 1 : 0),
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
        'How long ago this process knew of every change made anywhere.',
        follower.lagMs() / 1_000,
      ),
    ]
  }
}

/** The same on every node, so look at one of them, or the highest number. */
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
        'Processes that serve, and those that were lost and have not come back.',
        'state',
        states.flatMap(([state, count]) => (count === undefined ? [] : [[state, count] as const])),
      ),
      plain(
        'gauge',
        'terse_lost_nodes_backlog_bytes',
        'What waited in the journals of lost nodes when they were last heard of.',
        lost?.reduce((sum, { backlog_bytes }) => sum + backlog_bytes, 0),
      ),
    ]
  }
}

/** The same on every node, so look at one of them, or the highest number. */
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
