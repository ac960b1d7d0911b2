import type { AddressInfo, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { ClickIntake } from '../clicks/click-intake.ts'
import { type ListeningUse, listeningPlaces } from '../config/listening-places.ts'
import type { Config } from '../config/read-config.ts'
import { hostChange } from '../domain/changes/change.ts'
import { type ChangeFollower, changeFollower } from '../domain/changes/change-follower.ts'
import type { ClickRecorder } from '../domain/clicks/click.ts'
import { clicks } from '../domain/clicks/clicks.ts'
import { domainHttps } from '../domain/domains/domain-https.ts'
import type { ServiceHost } from '../domain/domains/service-host.ts'
import { deriveKey } from '../domain/instance/instance-keys.ts'
import type { LinkHost } from '../domain/links/link-directory.ts'
import { links } from '../domain/links/links.ts'
import { type PasswordVault, passwordVault } from '../domain/links/password-vault.ts'
import { type Authenticator, authenticator } from '../domain/tokens/authenticator.ts'
import { deferredListener } from '../http/deferred-listener.ts'
import { createFront } from '../http/front.ts'
import { idempotencyReader } from '../http/idempotency.ts'
import { createInternalServer, type InternalHandlers } from '../http/internal.ts'
import { isServiceHost } from '../http/service-host.ts'
import { entranceOf, type FrontEntrance, stopFront } from '../http/stop-front.ts'
import { systemRandom } from '../lib/random.ts'
import { type Peers, Throttles } from '../lib/throttles.ts'
import { clickMaker } from '../redirect/click/click-maker.ts'
import { type Countries, openCountries } from '../redirect/click/countries.ts'
import { VisitorSalts } from '../redirect/click/visitor-salts.ts'
import { type LinkFinder, linkFinder } from '../redirect/find-link.ts'
import { type RedirectHandler, redirectHandler } from '../redirect/handler.ts'
import { passwordCookies } from '../redirect/password-cookie.ts'
import { type DomainServices, openDomains, serviceNameOf } from './domains.ts'
import type { Instance } from './instance.ts'
import { openIntake } from './intake.ts'
import type { Job } from './polling-job.ts'
import type { Tls } from './tls.ts'
import { CHANGE_RETENTION_MS, startTrimming } from './trimming.ts'

const CHANGE_POLL_INTERVAL_MS = 100
/** For connections that wait for the port to open. */
const FIRST_VISITORS_MS = 20
const RATE_WINDOW_SECONDS = 60
const RATE_TOKENS_MAX = 100_000

/** A running node. */
export type Node = {
  readonly port: number
  /**
   * Finishes the requests under way and takes the clicks in; leaves the instance open.
   *
   * @param idleGraceMs for how long connections stay open on which a request may be on its way
   */
  stop(idleGraceMs?: number): Promise<void>
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
export type Shared = {
  /** The descriptor of the socket of the first place to listen on; those of the others follow. */
  readonly firstSocket: number
  readonly peers: Peers
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
  const memory = openMemory(foundation)
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

  async function stopBehindFront(): Promise<void> {
    trimming.stop()
    await Promise.all([
      memory.follower.stop(),
      salts.stop(),
      intake.stop(),
      checking.stop(),
      ordering?.stop(),
      app?.close(),
    ])
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
  return {
    port: (front.address() as AddressInfo).port,
    async stop(idleGraceMs = 0) {
      await stopFront(front, idleGraceMs, entrances)
      await stopBehindFront()
    },
  }
}

/** What this process keeps in memory, and what keeps it coherent with every process's changes. */
type Memory = {
  readonly finder: LinkFinder
  readonly authenticator: Authenticator
  readonly follower: ChangeFollower
}

function openMemory({ config, instance, log, tls }: Foundation): Memory {
  const { store, clock } = instance
  const finder = linkFinder({ directory: store.read.directory, bytesMax: config.cacheBytesMax })
  const tokenAuthenticator = authenticator({
    store,
    clock,
    onError: (error) => log.warn({ err: error }, 'the last use of a token could not be noted'),
  })
  const listeners = [finder, tokenAuthenticator, ...(tls?.memory ?? [])]
  for (const listener of listeners) store.onChange((changes) => listener.apply(changes))
  const follower = changeFollower({
    log: store.read.changes,
    listeners,
    intervalMs: CHANGE_POLL_INTERVAL_MS,
    retentionMs: CHANGE_RETENTION_MS,
    onError: (error) => log.warn({ err: error }, 'the change log cannot be read'),
  })
  return { finder, authenticator: tokenAuthenticator, follower }
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
}

async function openApi(
  { config, instance, log, serviceHost, throttles }: Foundation,
  { authenticator, domains, checks, intake }: ApiParts,
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
      health: async () => {
        await store.read.instance.find('key_check')
        return { lost_clicks: intake.lost(), doubtful_clicks: intake.doubtful() }
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
