import type { Logger } from 'pino'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import type { ClickCap } from '../../clicks/record/click-maker.ts'
import { ApiMeter } from '../../platform/http/api/request-timing.ts'
import { type MetricSource, plain } from '../../platform/metrics/metric.ts'
import type { Readiness } from '../../platform/process/readiness.ts'
import type { WorkQueues } from '../../platform/work/work-queues.ts'
import type { RedirectHandler } from '../../redirects/handler.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from '../instance/instance.ts'
import type { NodeCaches } from '../node/caches.ts'
import { type DataFolder, dataFolderMetrics } from '../node/data-folder.ts'
import { type FileHealth, openFileHealth } from '../node/file-checks.ts'
import { nodeReadiness, storeCheck, writeCheck } from '../node/readiness.ts'
import { backupMetrics } from './backup-metrics.ts'
import { countCertificates } from './certificate-counts.ts'
import { clickMetrics } from './click-metrics.ts'
import {
  apiMetrics,
  cacheMetrics,
  nodeMetrics,
  readinessMetrics,
  stateMetrics,
  storeMetrics,
  visitMetrics,
} from './metric-sources.ts'
import { type Colleagues, ServiceMetrics } from './metrics.ts'
import { processMetrics } from './process-metrics.ts'
import { queueMetrics } from './queue-metrics.ts'

/** What operators and balancers can observe of a node. */
export type Observation = {
  readonly readiness: Readiness
  /** Further parts of the node may add metrics. */
  readonly metrics: ServiceMetrics
  readonly apiMeter: ApiMeter
  /** Undefined where the data is in PostgreSQL. */
  readonly fileHealth: FileHealth | undefined
}

/**
 * @param parts.shared undefined for a process that is the whole service
 * @param parts.onProbed called when a balancer has requested the readiness of the node
 */
export function openObservation(parts: {
  config: Pick<Config, 'roles' | 'databaseUrl' | 'dataDir' | 'backup'>
  dataFolder: DataFolder
  instance: Instance
  log: Logger
  answerMsMax: number
  shared: Colleagues | undefined
  caches: NodeCaches
  intake: ClickIntake
  cap: ClickCap | undefined
  redirect: RedirectHandler
  queues: WorkQueues
  onProbed: (() => void) | undefined
}): Observation {
  const { config, dataFolder, instance, log, shared, caches, intake, cap, redirect } = parts
  const isStoreAvailable = storeCheck(instance.store)
  const readiness = nodeReadiness({
    roles: config.roles,
    isStoreAvailable,
    canWrite: writeCheck(instance.store, parts.answerMsMax),
    canStore: config.databaseUrl === undefined ? () => dataFolder.fault === undefined : undefined,
    finder: caches.finder,
    onProbed: parts.onProbed,
  })
  const apiMeter = new ApiMeter()
  const fileHealth = openFileHealth(config)
  const metrics = new ServiceMetrics(shared, (error) =>
    log.warn({ err: error }, 'metric source failed'),
  )
  for (const source of [
    processMetrics(instance.engine),
    readinessMetrics(readiness),
    visitMetrics(redirect.meter),
    queueMetrics(parts.queues),
    apiMetrics(apiMeter),
    cacheMetrics(() => ({ ...caches.finder.uses, tokens: caches.authenticator.use })),
    clickMetrics(intake, cap, () => instance.clock.nowMicros()),
    storeMetrics(instance, caches.follower, isStoreAvailable),
    domainMetrics(instance),
    nodeMetrics(instance.nodes),
    certificateMetrics(instance),
    fileMetrics(fileHealth),
    backupMetrics(config),
    dataFolderMetrics(dataFolder),
  ]) {
    metrics.add(source)
  }
  return { readiness, metrics, apiMeter, fileHealth }
}

/** No metrics when the data is in PostgreSQL. */
function fileMetrics(health: FileHealth | undefined): MetricSource {
  return () => {
    const age = health?.ageSeconds()
    return [
      plain(
        'gauge',
        'terse_damaged_files',
        'Files of the data folder that the last check has found damaged.',
        age === undefined ? undefined : health?.damagedFiles().length,
      ),
      plain(
        'gauge',
        'terse_file_check_age_seconds',
        'Time since the files of the data folder were last checked.',
        age,
      ),
    ]
  }
}

/** All zero when a proxy serves HTTPS. */
function certificateMetrics(instance: Instance): MetricSource {
  const help = 'Hosts by the state of their certificate; failing: the last order failed.'
  return stateMetrics('terse_certificates', help, async () =>
    Object.entries(await countCertificates(instance)).map(([state, count]) => ({ state, count })),
  )
}

function domainMetrics({ store }: Instance): MetricSource {
  return stateMetrics('terse_domains', 'Domains of workspaces, by their status.', async () => {
    const counts = await store.read.domains.countByStatus()
    return counts.map(({ status, count }) => ({ state: status, count }))
  })
}
