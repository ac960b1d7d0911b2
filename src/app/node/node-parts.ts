import type { Logger } from 'pino'
import { answerLimit } from '../../platform/http/api/request-timing.ts'
import { deferredListener } from '../../platform/http/entrances.ts'
import { type Peers, Throttles } from '../../platform/limits/throttle.ts'
import type { FairQueueOptions } from '../../platform/work/fair-queue.ts'
import { WorkQueues } from '../../platform/work/work-queues.ts'
import type { Config } from '../config/read-config.ts'
import { openCountriesOf } from '../instance/countries.ts'
import { openDomains } from '../instance/domains.ts'
import { guardInstance } from '../instance/guarded-store.ts'
import type { Instance } from '../instance/instance.ts'
import { findServiceHost } from '../instance/service-host.ts'
import type { Colleagues } from '../metrics/metrics.ts'
import { openObservation } from '../metrics/observation.ts'
import { openPasswordHasher } from '../workers/password-hasher.ts'
import { openQrPictures } from '../workers/qr-pictures.ts'
import { openCaches } from './caches.ts'
import { openClickCap, SharedAddresses } from './click-cap.ts'
import { openConnectionGuard } from './connection-guard.ts'
import { DataFolder } from './data-folder.ts'
import { openEntrances } from './entrances.ts'
import type { Heartbeat } from './heartbeat.ts'
import { openNodeImports } from './import-job.ts'
import { keepJournalledNumbers, openIntake } from './intake.ts'
import { openRedirect, openSalts } from './redirects.ts'
import { openWarmStart } from './warm-start.ts'

/** What the processes of one service share. */
export type Shared = Colleagues & {
  readonly peers: Peers
  /** Called when a balancer has asked this process whether it is ready. */
  readonly onProbed: () => void
}

/** Everything that a node consists of, none of it running yet. */
export type NodeParts = Awaited<ReturnType<typeof openNodeParts>>

/** What a node is built from. */
export type NodeOptions = {
  readonly config: Config
  readonly instance: Instance
  readonly log: Logger
  /** Undefined for a process that is the whole service. */
  readonly shared: Shared | undefined
  /** Bounds of password hashing; `HASH_QUEUE` when left out. */
  readonly hashQueue?: FairQueueOptions | undefined
  /** How long an answer of the API may take; when left out, as long as the engine's answers may. */
  readonly answerMsMax?: number | undefined
  /** Called when an API request starts. */
  readonly onApiRequest?: (() => void) | undefined
}

/** Builds the parts of a node. Loads the caches that an earlier process kept, and opens no port. */
export async function openNodeParts({ config, log, shared, ...options }: NodeOptions) {
  const dataFolder = new DataFolder({ config, log, instance: options.instance })
  const instance = guardInstance(config, options.instance, dataFolder)
  const warmStart = await openWarmStart(config)
  const serviceHost = await findServiceHost(config, instance, warmStart.values.state)
  const throttles = new Throttles({ clock: instance.clock, peers: shared?.peers })
  const hostParts = { serviceHost, warmStart: warmStart.values }
  const tls = config.tls && (await import('./tls.ts')).openTls(config, instance, hostParts, log)
  const queues = new WorkQueues()
  queues.add(instance.scanQueue)
  const hashing = openPasswordHasher(queues, options.hashQueue)
  const { answerMsMax = answerLimit(config.databaseUrl !== undefined) } = options
  const base = { config, instance, log, serviceHost, throttles, queues, answerMsMax }
  const context = { ...base, hasher: hashing.hasher }
  const caches = openCaches(config, instance, log, {
    warmStart: warmStart.values,
    https: tls?.caches,
  })
  const salts = openSalts(context)
  const domains = openDomains(config, instance, log, { queues })
  /** Unset before the node has started. */
  const running: { heartbeat?: Heartbeat } = {}

  /** Completes the start with what needs the database; runs later when that is down at the start. */
  async function begin(): Promise<void> {
    await instance.whenReady()
    await keepJournalledNumbers(config, instance.store)
    await salts.start()
    if (config.roles.includes('jobs')) await domains.domains.proveAllPending()
  }

  const isComplete = instance.store.isAvailable()
  const [countries] = await Promise.all([
    openCountriesOf(config),
    caches.start(),
    isComplete ? begin() : undefined,
  ])
  const forget = (journalId: string) => running.heartbeat?.forget(journalId)
  const intake = openIntake({ config, log, dataFolder, shared }, forget)
  const cap = openClickCap(config)
  const sharedAddresses = new SharedAddresses(log)
  const clicks = { salts, countries, cap, sharedAddresses }
  const redirect = openRedirect(context, caches.finder, intake, clicks)
  const observation = openObservation({
    ...context,
    dataFolder,
    shared,
    caches,
    intake,
    cap,
    redirect,
    onProbed: shared?.onProbed,
  })
  const guard = openConnectionGuard(config, log)
  observation.metrics.add(guard.metrics)
  const api = deferredListener()
  const parts = { finder: caches.finder, redirect, api: api.listener, tls, guard }
  const entrances = openEntrances(context, parts)
  return {
    context,
    shared,
    dataFolder,
    warmStart,
    tls,
    hashing,
    caches,
    salts,
    domains,
    imports: openNodeImports(config, instance, log),
    running,
    begin,
    isComplete,
    intake,
    sharedAddresses,
    observation,
    qr: openQrPictures(queues),
    guard,
    api,
    onApiRequest: options.onApiRequest,
    entrances,
  }
}
