import type { Logger } from 'pino'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import type { ClickCap } from '../../clicks/record/click-maker.ts'
import { staleCache } from '../../platform/cache/stale-cache.ts'
import { ApiMeter, within } from '../../platform/http/api/request-timing.ts'
import { type MetricSource, plain } from '../../platform/metrics/metric.ts'
import { Readiness, type RoleCheck } from '../../platform/process/readiness.ts'
import type { WorkQueues } from '../../platform/work/fair-queue.ts'
import type { LinkFinder } from '../../redirects/find-link.ts'
import type { RedirectHandler } from '../../redirects/handler.ts'
import type { Instance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import type { Role } from '../config/setting-schemas.ts'
import type { FullStore } from '../database/stores.ts'
import type { NodeCaches } from '../node/caches.ts'
import { type DataFolder, dataFolderMetrics } from '../node/data-folder.ts'
import { type FileHealth, openFileHealth } from '../node/file-checks.ts'
import {
  apiMetrics,
  backupMetrics,
  cacheMetrics,
  clickMetrics,
  countCertificates,
  nodeMetrics,
  processMetrics,
  queueMetrics,
  readinessMetrics,
  stateMetrics,
  storeMetrics,
  visitMetrics,
} from './metric-sources.ts'
import { type Colleagues, ServiceMetrics } from './metrics.ts'

/** What operators and balancers can observe of a node. */
export type Observation = {
  readonly readiness: Readiness
  /** Further parts of the node may add metrics. */
  readonly metrics: ServiceMetrics
  readonly apiMeter: ApiMeter
  /** Why charts cannot be read, and clicks are not counted, for people; null while they can. */
  readonly clicksFault: () => Promise<string | null>
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
  const isClicksUp = clicksCheck(instance)
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
    storeMetrics(instance, caches.follower, isStoreAvailable, isClicksUp),
    domainMetrics(instance),
    nodeMetrics(instance.nodes),
    certificateMetrics(instance),
    fileMetrics(fileHealth),
    backupMetrics(config),
    dataFolderMetrics(dataFolder),
  ]) {
    metrics.add(source)
  }
  const clicksFault = async () => ((await isClicksUp?.()) === false ? CLICKS_AWAY : null)
  return { readiness, metrics, apiMeter, clicksFault, fileHealth }
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

/** Balancers give up after about a second, and probe every few seconds. */
const STORE_PATIENCE_MS = 800
const STORE_KEEP_MS = 500
/** Each process whose readiness is requested tries one write in this time. */
const WRITE_KEEP_MS = 5_000

/** Returns a check whether the store answers. A store known to be unavailable is not queried. */
function storeCheck(store: FullStore): () => Promise<boolean> {
  const read = staleCache({
    load: async () => {
      await store.read.instance.find('key_check')
      return true
    },
    ageMsMax: STORE_KEEP_MS,
    waitMsMax: STORE_PATIENCE_MS,
  })
  return async () => store.isAvailable() && ((await read()) ?? false)
}

const CLICKS_AWAY =
  'The database of clicks does not answer. Clicks wait in the journals; charts cannot be read.'

/** Returns a check whether the database of clicks answers; undefined where the store has clicks. */
function clicksCheck({ checkClicks }: Instance): (() => Promise<boolean>) | undefined {
  if (checkClicks === undefined) return undefined
  const read = staleCache({
    load: async () => {
      await checkClicks()
      return true
    },
    ageMsMax: STORE_KEEP_MS,
    waitMsMax: STORE_PATIENCE_MS,
  })
  return async () => (await read()) ?? false
}

/**
 * Returns a check whether writes work: the disk may be full, the database read-only, or so slow or distant
 * that the API answers each write with 503. Tries a write every few seconds while it is called.
 *
 * @param limitMs how long a write of the API may take
 */
export function writeCheck(store: FullStore, limitMs: number): () => Promise<boolean> {
  const read = staleCache({
    load: async () => {
      await within(
        store.write((stores) => stores.instance.tryWrite()),
        limitMs,
      )
      return true
    },
    ageMsMax: WRITE_KEEP_MS,
    waitMsMax: STORE_PATIENCE_MS,
  })
  return async () => (await read()) ?? false
}

/** Builds the readiness checks of a node, one for each of its roles. */
function nodeReadiness(parts: {
  roles: Config['roles']
  isStoreAvailable: () => Promise<boolean>
  canWrite: () => Promise<boolean>
  /** Whether this machine can store writes; undefined when the store is on another machine. */
  canStore: (() => boolean) | undefined
  finder: LinkFinder
  onProbed: (() => void) | undefined
}): Readiness {
  const { roles, isStoreAvailable, canWrite, canStore = () => true, finder } = parts
  const readiness = new Readiness(parts.onProbed)
  const isStoreWritable = async () => canStore() && (await isStoreAvailable()) && (await canWrite())
  const checks: Record<Role, RoleCheck> = {
    // With cached links, most visitors are redirected even while the store is unavailable.
    redirect: () => finder.uses.links.entries > 0 || isStoreAvailable(),
    api: isStoreWritable,
    jobs: isStoreWritable,
  }
  for (const role of roles) readiness.add(role, checks[role])
  return readiness
}
