import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { isUnavailable } from '../../platform/failure.ts'
import { ApiTurns } from '../../platform/http/api/api-turns.ts'
import { deferredListener } from '../../platform/http/deferred-listener.ts'
import { type Peers, Throttles } from '../../platform/limits/throttles.ts'
import { WorkQueues } from '../../platform/work/work-queues.ts'
import type { Config } from '../config/read-config.ts'
import type { Role } from '../config/setting-schemas.ts'
import { openDomains } from '../instance/domains.ts'
import { type Foundation, logFailure } from '../instance/foundation.ts'
import { guardInstance } from '../instance/guarded-store.ts'
import type { Instance } from '../instance/instance.ts'
import { findServiceHost, openServiceHost } from '../instance/service-host.ts'
import { ALONE, type Colleagues } from '../metrics/metrics.ts'
import { type Observation, openObservation } from '../metrics/observation.ts'
import { openPasswordHasher } from '../workers/password-hasher.ts'
import { openQrPictures } from '../workers/qr-pictures.ts'
import { openClickCap } from './click-cap.ts'
import { openConnectionGuard } from './connection-guard.ts'
import { DataFolder } from './data-folder.ts'
import { type ListeningHandle, openEntrances } from './entrances.ts'
import { startFileChecks } from './file-checks.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { keepJournalledNumbers, openIntake } from './intake.ts'
import { openMemory } from './memory.ts'
import { openCopy, startCopying } from './memory-copy.ts'
import type { Job } from './polling-job.ts'
import { openCountriesOf, openRedirect, openSalts } from './redirects.ts'
import { startTrimming } from './trimming.ts'

/** For connections that wait for the port to open. */
const FIRST_VISITORS_MS = 20
/** Between two tries of what a database that was away at the start has been waited for. */
const BEGIN_INTERVAL_MS = 500
/** A balancer that has not asked for so long sends nobody here. */
const PROBE_INTERVAL_MAX_MS = 60_000
/** For requests that are on their way, when the node stops, on connections that clients keep. */
const IDLE_GRACE_MS = 1_000

/** A running node. */
export type Node = {
  readonly port: number
  /**
   * Settles once the node does all of its work, which is at its start unless the database was away
   * then; rejects where the database that came cannot be used.
   */
  readonly completed: Promise<void>
  /**
   * Says that the node is not ready and serves on, for balancers to notice; then finishes the requests
   * under way and takes the clicks in. Leaves the instance open.
   */
  stop(stopping?: Stopping): Promise<void>
}

export type Stopping = {
  /** For how long connections stay open on which a request may be on its way; 1 s when left out. */
  readonly idleGraceMs?: number
  /**
   * For how long the node serves on after it has said that it is not ready. When left out, as long as
   * the configuration says if a balancer has asked whether it is, else not at all.
   */
  readonly delayMs?: number
}

/** What a node has in common with the other processes of its service. */
export type Shared = Colleagues & {
  readonly peers: Peers
  /** Told when a balancer has asked this process whether it is ready. */
  readonly onProbed: () => void
}

/**
 * Starts to serve API and redirects over an open instance.
 *
 * @param options.listenOn as for `Entrances.listen`
 * @param options.shared undefined for a process that is the whole service
 */
export async function startNode(
  config: Config,
  opened: Instance,
  log: Logger,
  options: {
    readonly listenOn?: readonly (readonly ListeningHandle[])[]
    readonly shared?: Shared | undefined
  } = {},
): Promise<Node> {
  const { listenOn, shared } = options
  const dataFolder = new DataFolder({ config, log })
  const instance = guardInstance(config, opened, dataFolder)
  const { store, clock } = instance
  const has = (role: Role) => config.roles.includes(role)
  const copy = await openCopy(config)
  const serviceHost = await findServiceHost(config, instance, copy?.state)
  const throttles = new Throttles({ clock, peers: shared?.peers })
  const tls =
    config.tls === undefined
      ? undefined
      : (await import('./tls.ts')).openTls(config, instance, { serviceHost, copy }, log)
  const queues = new WorkQueues()
  queues.add(instance.scanQueue)
  const hashing = openPasswordHasher(queues)
  const { hasher } = hashing
  const foundation = { config, instance, log, serviceHost, throttles, queues, hasher }
  const memory = openMemory(config, instance, log, { copy, https: tls?.memory })
  const salts = openSalts(foundation)
  const { domains, checks, startChecking } = openDomains(config, instance, log, { queues })

  /** What needs the database; where that is away at the start, it follows. */
  async function begin(): Promise<void> {
    await instance.whenReady()
    await keepJournalledNumbers(config, store)
    await salts.start()
    if (has('jobs')) await domains.proveAllPending()
  }

  const isComplete = store.isAvailable()
  const [countries] = await Promise.all([
    openCountriesOf(config),
    memory.start(),
    isComplete ? begin() : undefined,
  ])
  const completed = isComplete ? Promise.resolve() : beginLater(foundation, begin)
  // Whoever serves looks at it, but only once this node listens.
  completed.catch(() => {})
  let heartbeat: Heartbeat | undefined
  const copying =
    copy && startCopying({ copy, dataFolder, follower: memory.follower, serviceHost, clock, log })
  const intake = openIntake({ config, log, dataFolder }, (journalId) =>
    heartbeat?.forget(journalId),
  )
  // With SQLite, draining takes more room than it frees.
  if (config.databaseUrl === undefined) {
    dataFolder.onFault((fault) => intake.pauseDraining(fault !== undefined))
  }
  const cap = openClickCap(config)
  const redirect = openRedirect(foundation, memory.finder, intake, { salts, countries, cap })
  const observation = openObservation({
    config,
    dataFolder,
    instance,
    log,
    shared,
    memory,
    intake,
    cap,
    redirect,
    queues,
    onProbed: shared?.onProbed,
  })
  const qr = openQrPictures(queues)
  const guard = openConnectionGuard(config, log)
  observation.metrics.add(guard.metrics)
  const api = deferredListener()
  const entrances = openEntrances(foundation, {
    finder: memory.finder,
    redirect,
    api: api.listener,
    tls,
    guard,
  })
  const jobs: Job[] = []
  let app: FastifyInstance | undefined
  let isStopping = false

  /** Begins what writes to the database by itself, once that is known to be this node's. */
  function startWork(): void {
    if (isStopping) return
    if (has('jobs')) {
      jobs.push(startTrimming(instance, logFailure(log)), startChecking())
      if (tls !== undefined) jobs.push(tls.startOrdering())
    }
    if (config.databaseUrl === undefined && (shared?.number ?? ALONE) === ALONE) {
      jobs.push(startFileChecks({ config, uncheckedSinceMs: instance.uncheckedSinceMs, log }))
    }
    intake.startDraining()
    heartbeat = startHeartbeat({
      nodes: instance.nodes,
      intake,
      clock: instance.clock,
      process: shared?.number ?? ALONE,
      log,
    })
  }

  async function stopBehindFront(how?: { discard: boolean }): Promise<void> {
    const [left] = await Promise.all([
      intake.stop(how),
      memory.follower.stop(),
      dataFolder.stop(),
      salts.stop(),
      ...jobs.map((job) => job.stop()),
      app?.close(),
      hashing.close(),
      qr.close(),
    ])
    await heartbeat?.stop(left)
    guard.stop()
    copying?.stop()
  }

  try {
    await entrances.listen(listenOn)
    // Visitors need not wait for the API, which is half of what there is to load; nor those who have
    // knocked already, whom loading would hold up.
    await sleep(FIRST_VISITORS_MS)
    const { openApi } = await import('./api.ts')
    app = await openApi(foundation, {
      authenticator: memory.authenticator,
      domains,
      checks,
      intake,
      observation,
      dataFolder,
      qrPictures: qr.pictures,
    })
    const turns = new ApiTurns((request, response) => app?.routing(request, response))
    api.open(turns.answer)
    dataFolder.start()
  } catch (error) {
    await entrances.stop(0)
    await stopBehindFront({ discard: true })
    throw error
  }
  // Only now: the drain thread takes a while to start, and no visitor should wait for it.
  if (isComplete) startWork()
  else completed.then(startWork, () => {})
  return {
    port: entrances.port(),
    completed,
    async stop({ idleGraceMs = IDLE_GRACE_MS, delayMs = stopDelayMs(observation, config) } = {}) {
      if (delayMs > 0) {
        observation.readiness.stop()
        await sleep(delayMs)
      }
      isStopping = true
      await entrances.stop(idleGraceMs)
      await stopBehindFront()
    },
  }
}

function stopDelayMs({ readiness }: Observation, config: Config): number {
  const isBalanced = performance.now() - readiness.askedAtMs < PROBE_INTERVAL_MAX_MS
  return isBalanced ? config.stopDelayMs : 0
}

/** Tries until the database stays for long enough. */
async function beginLater(
  { config, instance, log, serviceHost }: Foundation,
  begin: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await begin()
      const { keyspaceId } = await openServiceHost(config, instance)
      if (keyspaceId !== serviceHost.keyspaceId) {
        throw new Error('The database is not the one whose links this node has kept.')
      }
      log.info('this node does all of its work now')
      return
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
    await sleep(BEGIN_INTERVAL_MS, undefined, { ref: false })
  }
}
