import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { startBackups } from '../../backup/backup-job.ts'
import { visitorFacts } from '../../clicks/record/click-maker.ts'
import { openQrPictures } from '../../links/qr/qr-pictures.ts'
import { isUnavailable } from '../../platform/failure.ts'
import { ApiRequestPacer, answerLimit } from '../../platform/http/api/request-timing.ts'
import { deferredListener } from '../../platform/http/front-server.ts'
import { type Peers, Throttles } from '../../platform/limits/throttle.ts'
import { openPasswordHasher } from '../../platform/passwords/password-hasher.ts'
import { WorkQueues } from '../../platform/work/fair-queue.ts'
import type { Job } from '../../platform/work/polling-job.ts'
import { findServiceHost, openDomains, openServiceHost } from '../composition/domains.ts'
import {
  type AppContext,
  type Instance,
  logUnexpected,
  openPlacesOf,
} from '../composition/instance.ts'
import type { Config } from '../config/config.ts'
import { ALONE, type Colleagues } from '../metrics/metrics.ts'
import { openObservation } from '../metrics/observation.ts'
import { runTask } from '../workers/run-task.ts'
import type { Api } from './api.ts'
import { openCaches, openWarmStart } from './caches.ts'
import { openConnectionGuard } from './connection-guard.ts'
import { DataFolder, guardInstance } from './data-folder.ts'
import { type ListeningHandle, openEntrances } from './entrances.ts'
import { startFileChecks } from './file-checks.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { openNodeImports } from './import-job.ts'
import { keepJournalledNumbers, openIntake } from './intake.ts'
import { openClickCap, openLimits, openRedirect, openSalts, SharedAddresses } from './redirects.ts'
import { startErasure, startMilestones, startTrimming, startWorkspaceRemoval } from './removal.ts'
import { startWebhooks } from './webhook-job.ts'

/** Time for the connections that were waiting for the port to open. */
const FIRST_VISITORS_MS = 20
/** Between two tries to reach a database that was down at the start. */
const BEGIN_INTERVAL_MS = 500
/** A balancer that has not probed for this long is taken to send no visitors here. */
const PROBE_INTERVAL_MAX_MS = 60_000
/** For requests that are on their way, when the node stops, on connections that clients keep open. */
const IDLE_GRACE_MS = 1_000

export type Stopping = {
  /** For how long idle connections stay open, on which a request may be on its way; 1 s when left out. */
  readonly idleGraceMs?: number
  /**
   * For how long the node serves after it has reported that it is not ready. When left out, the
   * configured delay if a balancer has requested readiness, else none.
   */
  readonly delayMs?: number
}

/**
 * Starts to serve API and redirects over an open instance.
 *
 * @param options.listenOn as for `Entrances.listen`
 * @param options.shared undefined for a process that is the whole service
 * @param options.openHasher, answerMsMax and onApiRequest as in `NodeOptions`
 */
export async function startNode(
  config: Config,
  instance: Instance,
  log: Logger,
  options: {
    readonly listenOn?: readonly (readonly ListeningHandle[])[]
    readonly shared?: Shared | undefined
    readonly openHasher?: typeof openPasswordHasher | undefined
    readonly answerMsMax?: number | undefined
    readonly onApiRequest?: (() => void) | undefined
  } = {},
): Promise<Node> {
  const { listenOn, shared, ...rest } = options
  const parts = await openNodeParts({ config, instance, log, shared, ...rest })
  const node = new Node(parts)
  await node.listen(listenOn)
  return node
}

/** A running node. */
export class Node {
  /**
   * Settles once the node does all of its work: at once, unless the database was down at the start.
   * Rejects when the database turns out to be unusable.
   */
  readonly completed: Promise<void>
  readonly #parts: NodeParts
  readonly #saving: Job
  readonly #jobs: Job[] = []
  #api: Api | undefined
  #isStopping = false

  constructor(parts: NodeParts) {
    this.#parts = parts
    const { context, dataFolder, caches, intake } = parts
    const { config, instance, log, serviceHost } = context
    this.completed = parts.isComplete ? Promise.resolve() : beginLater(context, parts.begin)
    // The caller handles a rejection, but only once this node listens.
    this.completed.catch(() => {})
    const { follower } = caches
    const { clock } = instance
    this.#saving = parts.warmStart.startSaving({ dataFolder, follower, serviceHost, clock, log })
    // With SQLite, draining takes more room than it frees.
    if (config.databaseUrl === undefined) {
      dataFolder.onFault((fault) => intake.pauseDraining(fault !== undefined))
    }
  }

  get port(): number {
    return this.#parts.entrances.port()
  }

  /** Opens the ports, and then loads the API. Called once. */
  async listen(listenOn: readonly (readonly ListeningHandle[])[] | undefined): Promise<void> {
    const { entrances, isComplete } = this.#parts
    try {
      await entrances.listen(listenOn)
      // Visitors need not wait for the API, which is half of the program's code: loading it first would
      // delay those whose connections wait already.
      await sleep(FIRST_VISITORS_MS)
      await this.#openApi()
    } catch (error) {
      await entrances.stop(0)
      await this.#stopBehindFront({ discard: true })
      throw error
    }
    // Last, because the drain thread takes a while to start, and visitors should not wait for it.
    if (isComplete) this.#startWork()
    else this.completed.then(() => this.#startWork()).catch(() => {})
  }

  /**
   * Reports that the node is not ready and serves on, for balancers to notice; then finishes the
   * requests under way and ingests the clicks. Leaves the instance open.
   */
  async stop({ idleGraceMs = IDLE_GRACE_MS, delayMs = this.#stopDelayMs() }: Stopping = {}) {
    const { observation, entrances } = this.#parts
    if (delayMs > 0) {
      observation.readiness.stop()
      await sleep(delayMs)
    }
    this.#isStopping = true
    this.#api?.endStreams()
    await entrances.stop(idleGraceMs)
    await this.#stopBehindFront()
  }

  async #openApi(): Promise<void> {
    const { context, caches, domains, intake, observation, dataFolder, qr, api, imports } =
      this.#parts
    const { onApiRequest, explainedFacts } = this.#parts
    const { openApi } = await import('./api.ts')
    this.#api = await openApi(context, {
      authenticator: caches.authenticator,
      sessionCache: caches.sessionCache,
      domains: domains.domains,
      checks: domains.checks,
      intake,
      observation,
      dataFolder,
      qrPictures: qr.pictures,
      imports: imports.imports,
      finder: caches.finder,
      visitorFacts: explainedFacts,
    })
    const { app } = this.#api
    const pacer = new ApiRequestPacer((request, response) => {
      onApiRequest?.()
      app.routing(request, response)
    })
    api.open(pacer.answer)
    dataFolder.start()
  }

  /** Starts the background work that writes to the database. Call it once the database is verified. */
  #startWork(): void {
    if (this.#isStopping) return
    const { context, shared, domains, tls, intake, running, imports, sharedAddresses } = this.#parts
    const { config, instance, log } = context
    const { store, nodes, clock } = instance
    const process = shared?.number ?? ALONE
    if (config.roles.includes('jobs')) {
      this.#jobs.push(
        startTrimming(config, instance, logUnexpected(log, 'trimming')),
        domains.startChecking(),
        startWorkspaceRemoval({ store, clock, domains: domains.domains }, log),
        startErasure({ store, clock, intake }, log),
        startMilestones({ store, clock }, log),
      )
      if (tls !== undefined) this.#jobs.push(tls.startOrdering())
    }
    if (config.databaseUrl === undefined && process === ALONE) {
      const { uncheckedSinceMs } = instance
      this.#jobs.push(startFileChecks({ config, uncheckedSinceMs, log }))
    }
    // The processes of a machine share the folder of uploads.
    if (config.roles.includes('jobs') && process === ALONE) {
      this.#jobs.push(imports.startRunning(), startWebhooks(config, instance, log))
    }
    if (process === ALONE) {
      this.#jobs.push(
        startBackups({
          config,
          log,
          runBackup: (request, stop) => runTask('backup', request, { stop }),
        }),
      )
    }
    intake.startDraining()
    running.heartbeat = startHeartbeat({ nodes, intake, sharedAddresses, clock, process, log })
  }

  async #stopBehindFront(how?: { discard: boolean }): Promise<void> {
    const { intake, limits, caches, dataFolder, salts, hashing, qr, running, guard } = this.#parts
    const [left] = await Promise.all([
      intake.stop(how),
      limits.stop(),
      caches.follower.stop(),
      dataFolder.stop(),
      salts.stop(),
      ...this.#jobs.map((job) => job.stop()),
      this.#api?.app.close(),
      hashing.close(),
      qr.close(),
    ])
    await running.heartbeat?.stop(left)
    guard.stop()
    await this.#saving.stop()
  }

  #stopDelayMs(): number {
    const { observation, context } = this.#parts
    const { readiness } = observation
    const isBalanced = performance.now() - readiness.probedAtMs < PROBE_INTERVAL_MAX_MS
    return isBalanced ? context.config.stopDelayMs : 0
  }
}

/** Tries until the database stays up for long enough. */
async function beginLater(
  { config, instance, log, serviceHost }: AppContext,
  begin: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await begin()
      const { keyspaceId } = await openServiceHost(config, instance)
      if (keyspaceId !== serviceHost.keyspaceId) {
        throw new Error('The database is not the one whose links this node has cached on disk.')
      }
      log.info('database available, node complete')
      return
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
    await sleep(BEGIN_INTERVAL_MS, undefined, { ref: false })
  }
}

/** What the processes of one service share. */
export type Shared = Colleagues & {
  readonly peers: Peers
  /** Called when a balancer has asked this process whether it is ready. */
  readonly onProbed: () => void
}

/** Everything that a node consists of, none of it running yet. */
type NodeParts = Awaited<ReturnType<typeof openNodeParts>>

/** What a node is built from. */
type NodeOptions = {
  readonly config: Config
  readonly instance: Instance
  readonly log: Logger
  /** Undefined for a process that is the whole service. */
  readonly shared: Shared | undefined
  /** Opens what hashes passwords; `openPasswordHasher` when left out. */
  readonly openHasher?: typeof openPasswordHasher | undefined
  /** How long an answer of the API may take; when left out, as long as the engine's answers may. */
  readonly answerMsMax?: number | undefined
  /** Called when an API request starts. */
  readonly onApiRequest?: (() => void) | undefined
}

/** Builds the parts of a node. Loads the caches that an earlier process kept, and opens no port. */
async function openNodeParts({ config, log, shared, ...options }: NodeOptions) {
  const dataFolder = new DataFolder({ config, log, instance: options.instance })
  const instance = guardInstance(config, options.instance, dataFolder)
  const warmStart = await openWarmStart(config)
  const serviceHost = await findServiceHost(config, instance, warmStart.values.state)
  const throttles = new Throttles({ clock: instance.clock, peers: shared?.peers })
  const hostParts = { serviceHost, warmStart: warmStart.values }
  const tls = config.tls && (await import('./tls.ts')).openTls(config, instance, hostParts, log)
  const queues = new WorkQueues()
  queues.add(instance.scanQueue)
  const { openHasher = openPasswordHasher } = options
  const hashing = openHasher(queues)
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
  const [places] = await Promise.all([
    openPlacesOf(config),
    caches.start(),
    isComplete ? begin() : undefined,
  ])
  const forget = (journalId: string) => running.heartbeat?.forget(journalId)
  const intake = openIntake({ config, log, dataFolder, shared }, forget)
  const limits = openLimits(context, intake, caches)
  const cap = openClickCap(config)
  const sharedAddresses = new SharedAddresses(log)
  const clicks = { salts, places, cap, sharedAddresses }
  const redirect = openRedirect(context, caches.finder, intake, limits, clicks)
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
    explainedFacts: { ...visitorFacts(clicks), scannerNetworks: config.scannerNetworks },
    running,
    begin,
    isComplete,
    intake,
    limits,
    sharedAddresses,
    observation,
    qr: openQrPictures(queues),
    guard,
    api,
    onApiRequest: options.onApiRequest,
    entrances,
  }
}
