import { performance } from 'node:perf_hooks'
import {
  findBackupRecords,
  type MadeBackup,
  newestPlace,
  recordsOfPlace,
  targetLabel,
} from '../../backup/records.ts'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import type { DrainProgress } from '../../clicks/ingest/drain-messages.ts'
import { sumOfBacklogs } from '../../clicks/journal/journal-reader.ts'
import type { ClickCap } from '../../clicks/record/click-maker.ts'
import type { Nodes } from '../../operations/nodes.ts'
import { staleCache } from '../../platform/cache/stale-cache.ts'
import type { ApiMeter } from '../../platform/http/api/request-timing.ts'
import { labelled, type Metric, type MetricSource, plain } from '../../platform/metrics/metric.ts'
import type { Readiness } from '../../platform/process/readiness.ts'
import { VERSION } from '../../platform/process/version.ts'
import type { WorkQueues } from '../../platform/work/fair-queue.ts'
import type { VisitMeter } from '../../redirects/exchange.ts'
import type { ChangeFollower } from '../../storage/changes.ts'
import type { CacheUse } from '../../storage/coherent-cache.ts'
import type { Instance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'

/** How often counts are queried that are the same on every node and read many rows. */
const STATES_KEEP_MS = 30_000
const STATES_PATIENCE_MS = 500

/** The number of rows in each state. */
type StateCounts = readonly { readonly state: string; readonly count: number }[]

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
  isClicksUp: (() => Promise<boolean>) | undefined,
): MetricSource {
  return async () => {
    const pools = [...poolUses()]
    const isAvailable = await isStoreAvailable()
    const areClicksUp = await isClicksUp?.()
    return [
      plain('gauge', 'terse_database_up', 'Whether the database answers.', isAvailable ? 1 : 0),
      plain(
        'gauge',
        'terse_clicks_database_up',
        'Whether the database of clicks answers, where it is one of its own.',
        areClicksUp === undefined ? undefined : Number(areClicksUp),
      ),
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

export function clickMetrics(
  intake: ClickIntake,
  cap: ClickCap | undefined,
  nowMicros: () => number,
): MetricSource {
  return () => {
    const held = intake.held()
    const { bytes, oldestMicros } = sumOfBacklogs(held)
    const ageSeconds = oldestMicros === undefined ? 0 : (nowMicros() - oldestMicros) / 1e6
    return [
      total(
        'terse_clicks_recorded_total',
        'Clicks written to the journal.',
        intake.counts.recorded,
      ),
      total(
        'terse_clicks_capped_total',
        'Clicks of one address on one link beyond TERSE_CLICK_CAP_PER_MINUTE, counted as bots.',
        cap?.capped ?? 0,
      ),
      total(
        'terse_clicks_lost_total',
        'Clicks that could not be written, or were in damaged or missing parts of journals (an estimate). Kept across restarts.',
        intake.counts.lost,
      ),
      total(
        'terse_clicks_doubtful_total',
        'Clicks that may not have reached a failing disk.',
        intake.counts.doubtful,
      ),
      plain(
        'gauge',
        'terse_journal_writable',
        'Whether clicks can be written to the journal.',
        intake.fault === undefined ? 1 : 0,
      ),
      ...drainMetrics(intake.progress),
      plain(
        'gauge',
        'terse_journal_backlog_bytes',
        'Bytes of clicks not ingested yet, in this node’s journal and those that it has taken over.',
        bytes,
      ),
      plain(
        'gauge',
        'terse_journal_backlog_age_seconds',
        'Age of the oldest click not ingested yet.',
        Math.max(0, ageSeconds),
      ),
      plain(
        'gauge',
        'terse_journal_orphans',
        'Journals of killed processes that are being ingested.',
        held.length - 1,
      ),
    ]
  }
}

function drainMetrics(progress: DrainProgress) {
  return [
    total(
      'terse_clicks_drained_total',
      'Clicks ingested from journals into the database.',
      progress.get('clicks'),
    ),
    total(
      'terse_clicks_without_row_total',
      'Ingested clicks that exports lack, because their workspace exceeded TERSE_RAW_CLICKS_PER_MINUTE.',
      progress.get('withoutRow'),
    ),
    total(
      'terse_clicks_without_link_total',
      'Ingested clicks that are counted for no link: their link was deleted, or lost with an older database.',
      progress.get('withoutLink'),
    ),
    total(
      'terse_imported_clicks_total',
      'Clicks of imports that were counted.',
      progress.get('imported'),
    ),
    plain(
      'gauge',
      'terse_click_spools',
      'Imports whose clicks wait to be counted, as this process sees it.',
      progress.get('spools'),
    ),
    total(
      'terse_drain_batches_total',
      'Transactions that ingested clicks.',
      progress.get('batches'),
    ),
    total(
      'terse_drain_failures_total',
      'Transactions that failed to ingest clicks.',
      progress.get('failures'),
    ),
    total(
      'terse_drain_seconds_total',
      'Time that the database took to ingest clicks.',
      progress.get('micros') / 1e6,
    ),
  ]
}

function total(name: string, help: string, value: number) {
  return plain('counter', name, help, value)
}

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

/**
 * The backups of the configured place, 0 for a kind that was never made. Without a configured
 * place, the backups of the place that has the newest one, or none.
 */
export function backupMetrics({
  dataDir,
  backup,
}: Pick<Config, 'dataDir' | 'backup'>): MetricSource {
  return () => {
    const records = findBackupRecords(dataDir)
    const isMade = backup.target !== undefined
    const place = isMade ? targetLabel(backup.target) : records && newestPlace(records)
    const made = records && place !== undefined ? recordsOfPlace(records, place) : undefined
    return [
      plain(
        'gauge',
        'terse_backup_last_timestamp_seconds',
        'When the last backup was made in the configured place; 0 for never.',
        secondsOf(made?.last, isMade),
      ),
      plain(
        'gauge',
        'terse_backup_last_verified_timestamp_seconds',
        'When the last backup in the configured place was made that has been restored and compared; 0 for never.',
        secondsOf(made?.verified, isMade && backup.verifies),
      ),
    ]
  }
}

function secondsOf(made: MadeBackup | undefined, isExpected: boolean): number | undefined {
  if (made !== undefined) return made.consistentAtMs / 1_000
  return isExpected ? 0 : undefined
}

/** A certificate that expires within this time should have been renewed long ago. */
const EXPIRING_MICROS = 7 * 24 * 60 * 60 * 1_000_000

/** Returns the number of hosts by the state of their certificate; `failing`: the last order failed. */
export async function countCertificates({ store, clock }: Pick<Instance, 'store' | 'clock'>) {
  const { certificates, certificateOrders } = store.read
  const now = clock.nowMicros()
  const [expired, soon, all, failing] = await Promise.all([
    certificates.countEndingBefore(now),
    certificates.countEndingBefore(now + EXPIRING_MICROS),
    certificates.countEndingBefore(Number.MAX_SAFE_INTEGER),
    certificateOrders.countFailing(),
  ])
  return { expired, expiring: soon - expired, valid: all - soon, failing }
}
