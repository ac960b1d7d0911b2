import type { AddressInfo, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { ClickIntake } from '../clicks/click-intake.ts'
import { type ListeningUse, listeningPlaces } from '../config/listening-places.ts'
import type { Config } from '../config/read-config.ts'
import { hostChange } from '../domain/changes/change.ts'
import type { ClickRecorder } from '../domain/clicks/click.ts'
import { clicks } from '../domain/clicks/clicks.ts'
import { domainHttps } from '../domain/domains/domain-https.ts'
import type { ServiceHost } from '../domain/domains/service-host.ts'
import { deriveKey } from '../domain/instance/instance-keys.ts'
import type { LinkHost } from '../domain/links/link-directory.ts'
import { links } from '../domain/links/links.ts'
import { type PasswordVault, passwordVault } from '../domain/links/password-vault.ts'
import type { Authenticator } from '../domain/tokens/authenticator.ts'
import { deferredListener } from '../http/deferred-listener.ts'
import { createFront } from '../http/front.ts'
import { idempotencyReader } from '../http/idempotency.ts'
import { createInternalServer, type InternalHandlers } from '../http/internal.ts'
import { isServiceHost } from '../http/service-host.ts'
import { entranceOf, type FrontEntrance, stopFront } from '../http/stop-front.ts'
import { systemRandom } from '../lib/random.ts'
import { type Peers, Throttles } from '../lib/throttles.ts'
import { CONTENT_TYPE } from '../metrics/exposition.ts'
import { clickMaker } from '../redirect/click/click-maker.ts'
import { type Countries, openCountries } from '../redirect/click/countries.ts'
import { VisitorSalts } from '../redirect/click/visitor-salts.ts'
import type { LinkFinder } from '../redirect/find-link.ts'
import { type RedirectHandler, redirectHandler } from '../redirect/handler.ts'
import { passwordCookies } from '../redirect/password-cookie.ts'
import { type DomainServices, openDomains, serviceNameOf } from './domains.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { Instance } from './instance.ts'
import { openIntake } from './intake.ts'
import { openMemory } from './memory.ts'
import { ALONE, type Colleagues } from './metrics.ts'
import { type Observation, openObservation } from './observation.ts'
import type { Job } from './polling-job.ts'
import type { Tls } from './tls.ts'
import { startTrimming } from './trimming.ts'

/** For connections that wait for the port to open. */
const FIRST_VISITORS_MS = 20
/** A balancer that has not asked for so long sends nobody here. */
const PROBE_INTERVAL_MAX_MS = 60_000
/** For requests of balancers that are on their way on connections that they keep. */
const BALANCED_IDLE_GRACE_MS = 1_000
const RATE_WINDOW_SECONDS = 60
const RATE_TOKENS_MAX = 100_000

/** A running node. */
export type Node = {
  readonly port: number
  /**
   * Says that the node is not ready and serves on, for balancers to notice; then finishes the requests
   * under way and takes the clicks in. Leaves the instance open.
   */
  stop(stopping?: Stopping): Promise<void>
}

export type Stopping = {
  /** For how long connections stay open on which a request may be on its way. */
  readonly idleGraceMs?: number
  /**
   * For how long the node serves on after it has said that it is not ready. When left out, as long as
   * the configuration says if a balancer has asked whether it is, else not at all.
   */
  readonly delayMs?: number
}

/** What the parts of a node are made from. */
type Foundation = {
  readonly config: Config
  readonly instance: Instance
  readonly log: Logger
  readonly serviceHost: ServiceHost
  readonly throttles: Throttles
  /** Undefined where HTTPS is somebody else's work. */
  readonly tls: Tls | undefined
}

/** What a node has in common with the other processes of its service. */
export type Shared = Colleagues & {
  /** The descriptor of the socket of the first place to listen on; those of the others follow. */
  readonly firstSocket: number
  readonly peers: Peers
  /** Told when a balancer has asked this process whether it is ready. */
  readonly onProbed: () => void
}

/**
 * Starts to serve API and redirects over an open instance.
 *
 * @param shared undefined for a process that is the whole service
 */
export async function startNode(
  config: Config,
  instance: Instance,
  log: Logger,
  shared?: Shared,
): Promise<Node> {
  const serviceHost = await openServiceHost(config, instance)
  const throttles = new Throttles({ clock: instance.clock, peers: shared?.peers })
  const tls =
    config.tls === undefined
      ? undefined
      : (await import('./tls.ts')).openTls(config, instance, serviceHost, log)
  const foundation = { config, instance, log, serviceHost, throttles, tls }
  const memory = openMemory(config, instance, log, tls?.memory)
  const salts = openSalts(foundation)
  const [countries] = await Promise.all([
    openCountriesOf(config),
    memory.follower.start(),
    salts.start(),
  ])
  const { domains, checks, startChecking } = openDomains(config, instance, log)
  await domains.proveAllPending()
  const intake = await openIntake(config, instance, log)
  const redirect = openRedirect(foundation, memory.finder, intake, { salts, countries })
  const observation = openObservation({
    instance,
    log,
    shared,
    memory,
    intake,
    redirect,
    onProbed: shared?.onProbed,
  })
  const internal: InternalHandlers = {
    isServed: (host) => host === serviceHost.host || isKnown(memory.finder.findHost(host)),
  }
  const hasOwnInternal = config.internalListen !== undefined
  const api = deferredListener()
  const front = createFront({
    isServiceHost: (host) => isServiceHost(host, serviceHost.host),
    api: api.listener,
    redirect: redirect.request,
    fastRedirect: config.fastRedirects ? redirect.visit : undefined,
    trustedProxies: config.trustedProxies,
    hstsSeconds: config.hstsSeconds,
    plain: tls?.plain,
    internal: hasOwnInternal ? undefined : internal,
  })
  const internalServer = hasOwnInternal ? createInternalServer(internal) : undefined
  const https = tls?.open(front)
  const entrances: FrontEntrance[] = [
    ...(https === undefined ? [] : [https.listener, https.http2]),
    ...(internalServer === undefined ? [] : [entranceOf(internalServer)]),
  ]
  let ordering: Job | undefined
  const trimming = startTrimming(instance, logFailure(log))
  const checking = startChecking()
  let app: FastifyInstance | undefined
  let heartbeat: ReturnType<typeof startHeartbeat> | undefined

  async function stopBehindFront(): Promise<void> {
    trimming.stop()
    const [left] = await Promise.all([
      intake.stop(),
      memory.follower.stop(),
      salts.stop(),
      checking.stop(),
      ordering?.stop(),
      app?.close(),
    ])
    await heartbeat?.stop(left)
  }

  try {
    const servers = { plain: front, https: https?.listener.server, internal: internalServer }
    await listen(config, servers, shared?.firstSocket)
    // Visitors need not wait for the API, which is half of what there is to load; nor those who have
    // knocked already, whom loading would hold up.
    await sleep(FIRST_VISITORS_MS)
    app = await openApi(foundation, {
      authenticator: memory.authenticator,
      domains,
      checks,
      intake,
      observation,
    })
    api.open((request, response) => app?.routing(request, response))
  } catch (error) {
    await stopFront(front, 0, entrances)
    await stopBehindFront()
    throw error
  }
  ordering = tls?.startOrdering()
  // Only now: the thread takes a while to start, and no visitor should wait for it.
  intake.startDraining()
  heartbeat = startHeartbeat({
    nodes: instance.nodes,
    intake,
    clock: instance.clock,
    process: shared?.number ?? ALONE,
    log,
  })
  return {
    port: (front.address() as AddressInfo).port,
    async stop({ idleGraceMs = 0, delayMs = stopDelayMs(observation, config) } = {}) {
      if (delayMs > 0) {
        observation.readiness.stop()
        await sleep(delayMs)
      }
      await stopFront(front, delayMs > 0 ? BALANCED_IDLE_GRACE_MS : idleGraceMs, entrances)
      await stopBehindFront()
    },
  }
}

function openSalts({ instance, log }: Foundation): VisitorSalts {
  return new VisitorSalts({
    store: instance.store,
    clock: instance.clock,
    random: systemRandom,
    onError: (error) => log.warn({ err: error }, 'the salts of visitors wait for the store'),
  })
}

/** What the API needs that other parts of the node use too. */
type ApiParts = Pick<DomainServices, 'domains' | 'checks'> & {
  readonly authenticator: Authenticator
  readonly intake: ClickIntake
  readonly observation: Observation
}

async function openApi(
  { config, instance, log, serviceHost, throttles }: Foundation,
  { authenticator, domains, checks, intake, observation }: ApiParts,
): Promise<FastifyInstance> {
  const { buildApp } = await import('../http/app.ts')
  const { store, clock, instanceKey } = instance
  const linkService = links({
    store,
    clock,
    random: systemRandom,
    domains,
    vault: vaultOf(instance),
    serviceHost,
    appSchemes: config.appSchemes,
    claimOnLink: config.claimOnLink,
  })
  return buildApp(
    {
      links: linkService,
      domains,
      clicks: clicks({
        store,
        clock,
        links: linkService,
        domains,
        retentionDays: config.clickRetentionDays,
      }),
      domainChecks: checks,
      domainHttps: domainHttps({ store, clock }),
      authenticator,
      idempotency: idempotencyReader(deriveKey(instanceKey, 'idempotency')),
      baseUrl: config.baseUrl,
      rateLimit: config.rateLimit,
      throttle: throttles.create('api-requests', {
        limit: config.rateLimit,
        windowSeconds: RATE_WINDOW_SECONDS,
        keysMax: RATE_TOKENS_MAX,
      }),
      readiness: observation.readiness,
      health: () => ({ lost_clicks: intake.lost(), doubtful_clicks: intake.doubtful() }),
      apiMeter: observation.apiMeter,
      metrics: {
        contentType: CONTENT_TYPE,
        text: () => observation.metrics.text(),
        readers: config.metricsReaders,
        trustedProxies: config.trustedProxies,
      },
    },
    log,
  )
}

function openRedirect(
  { config, instance, log, serviceHost, throttles }: Foundation,
  finder: LinkFinder,
  recorder: ClickRecorder,
  origins: { readonly salts: VisitorSalts; readonly countries: Countries },
): RedirectHandler {
  const { clock, instanceKey } = instance
  const sharedHost = {
    keyspaceId: serviceHost.keyspaceId,
    notFoundUrl: null,
    expiredUrl: null,
    hstsMaxAge: config.hstsSeconds === 0 ? null : config.hstsSeconds,
  }
  return redirectHandler({
    finder,
    recorder,
    makeClick: clickMaker(origins),
    vault: vaultOf(instance),
    cookies: passwordCookies(deriveKey(instanceKey, 'password-cookie')),
    clock,
    throttles,
    trustedProxies: config.trustedProxies,
    serviceHostFor: (host) => (isServiceHost(host, serviceHost.host) ? sharedHost : undefined),
    onError: logFailure(log),
  })
}

function vaultOf({ instanceKey }: Instance): PasswordVault {
  return passwordVault(deriveKey(instanceKey, 'link-password'), systemRandom)
}

function logFailure(log: Logger): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'something failed')
}

function stopDelayMs({ readiness }: Observation, config: Config): number {
  const isBalanced = performance.now() - readiness.askedAtMs < PROBE_INTERVAL_MAX_MS
  return isBalanced ? config.stopDelayMs : 0
}

/** @param firstSocket undefined for a process that is the whole service */
async function listen(
  config: Config,
  servers: Readonly<Record<ListeningUse, Server | undefined>>,
  firstSocket: number | undefined,
): Promise<void> {
  for (const [index, { use, host, port }] of listeningPlaces(config).entries()) {
    const server = servers[use]
    await new Promise<void>((resolve, reject) => {
      server?.once('error', reject)
      server?.listen(
        firstSocket === undefined ? { host, port } : { fd: firstSocket + index },
        resolve,
      )
    })
  }
}

function isKnown(host: LinkHost | undefined | Promise<LinkHost | undefined>) {
  return host instanceof Promise ? host.then((loaded) => loaded !== undefined) : host !== undefined
}

async function openServiceHost(config: Config, instance: Instance): Promise<ServiceHost> {
  const { store, clock } = instance
  const name = serviceNameOf(config)
  const { host } = name
  const keyspaceId = await store.write(async (stores) => {
    const shared = await stores.keyspaces.openShared(host)
    if (shared.movedFrom !== undefined) {
      await stores.changes.append(hostChange(shared.movedFrom), clock.nowMicros())
    }
    return shared.id
  })
  return { ...name, keyspaceId }
}

async function openCountriesOf({ countryDatabase }: Config): Promise<Countries> {
  try {
    return await openCountries(countryDatabase)
  } catch (error) {
    if (countryDatabase === undefined) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`TERSE_COUNTRY_DATABASE names no country database (${reason})`)
  }
}
