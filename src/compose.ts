import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { type ClickIntake, startClickIntake } from './clicks/click-intake.ts'
import { openDomains, serviceNameOf } from './compose-domains.ts'
import type { Config } from './config/read-config.ts'
import { loadOrCreateSecretKey, loadSecretKey } from './config/secret-key.ts'
import { hostChange } from './domain/changes/change.ts'
import { changeFollower } from './domain/changes/change-follower.ts'
import { clicks } from './domain/clicks/clicks.ts'
import type { ServiceHost } from './domain/domains/service-host.ts'
import { IDEMPOTENCY_RETENTION_MICROS } from './domain/idempotency/once.ts'
import { deriveKey } from './domain/instance/instance-keys.ts'
import { checkInstanceKey, hasInstanceKey } from './domain/instance/key-check.ts'
import { links } from './domain/links/links.ts'
import { passwordVault } from './domain/links/password-vault.ts'
import type { Store } from './domain/store.ts'
import { authenticator } from './domain/tokens/authenticator.ts'
import { type Tokens, tokens } from './domain/tokens/tokens.ts'
import { type Workspaces, workspaces } from './domain/workspaces/workspaces.ts'
import type { DrainWorkerData } from './drain-worker.ts'
import { buildApp } from './http/app.ts'
import { createFront } from './http/front.ts'
import { idempotencyReader } from './http/idempotency.ts'
import { isServiceHost } from './http/service-host.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { systemRandom } from './lib/random.ts'
import { Throttle } from './lib/throttle.ts'
import { clickMaker } from './redirect/click/click-maker.ts'
import { type Countries, openCountries } from './redirect/click/countries.ts'
import { VisitorSalts } from './redirect/click/visitor-salts.ts'
import { linkFinder } from './redirect/find-link.ts'
import { redirectHandler } from './redirect/handler.ts'
import { passwordCookies } from './redirect/password-cookie.ts'
import { openStore } from './storage/open-store.ts'

const CHANGE_POLL_INTERVAL_MS = 100
const CHANGE_RETENTION_MS = 24 * 60 * 60 * 1_000
const TRIM_INTERVAL_MS = 10 * 60 * 1_000
const RATE_WINDOW_SECONDS = 60
const RATE_TOKENS_MAX = 100_000
const LOSS_REPORT_INTERVAL_MS = 10_000
/** A batch of clicks fits, so that collecting garbage does not copy it again and again. */
const DRAIN_YOUNG_MIB = 48
/** For requests under way when the process is asked to stop. */
const STOP_GRACE_MS = 10_000
const IDLE_CHECK_INTERVAL_MS = 50

/** The database and the services that need nothing else: enough for the command line. */
export type Instance = {
  readonly store: Store
  readonly engine: string
  readonly clock: Clock
  readonly instanceKey: Buffer
  readonly workspaces: Workspaces
  readonly tokens: Tokens
  close(): Promise<void>
}

export async function openInstance(config: Config, log: Logger): Promise<Instance> {
  const clock = systemClock()
  const onError = (error: unknown) => log.warn({ err: error }, 'the store reported an error')
  const { store, engine } = await openStore({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    clock,
    onError,
  })
  let instanceKey: Buffer
  try {
    instanceKey = await instanceKeyOf(config, store)
  } catch (error) {
    await store.close()
    throw error
  }
  const base = { store, clock, random: systemRandom }
  return {
    store,
    engine,
    clock,
    instanceKey,
    workspaces: workspaces(base),
    tokens: tokens(base),
    close: () => store.close(),
  }
}

/** The key of the configuration or the data folder; a new one for a database that has none yet. */
async function instanceKeyOf(config: Config, store: Store): Promise<Buffer> {
  const { secretKey, dataDir } = config
  const isKnown = await hasInstanceKey(store)
  const key = secretKey ?? (isKnown ? loadSecretKey(dataDir) : loadOrCreateSecretKey(dataDir))
  return checkInstanceKey(store, key)
}

/** A running node. */
export type Node = {
  readonly port: number
  /** Finishes the requests under way and takes the clicks in; leaves the instance open. */
  stop(): Promise<void>
}

/** Starts to serve API and redirects over an open instance. */
export async function startNode(config: Config, instance: Instance, log: Logger): Promise<Node> {
  const { store, clock, instanceKey } = instance
  const serviceHost = await openServiceHost(config, instance)
  const sharedHost = { keyspaceId: serviceHost.keyspaceId, notFoundUrl: null, expiredUrl: null }
  const isOwn = (host: string) => isServiceHost(host, serviceHost.host)
  const vault = passwordVault(deriveKey(instanceKey, 'link-password'), systemRandom)
  const onError = (error: unknown) => log.error({ err: error }, 'something failed')

  const finder = linkFinder({ directory: store.read.directory, bytesMax: config.cacheBytesMax })
  const tokenAuthenticator = authenticator({
    store,
    clock,
    onError: (error) => log.warn({ err: error }, 'the last use of a token could not be noted'),
  })
  const listeners = [finder, tokenAuthenticator]
  for (const listener of listeners) store.onChange((changes) => listener.apply(changes))
  const follower = changeFollower({
    log: store.read.changes,
    listeners,
    intervalMs: CHANGE_POLL_INTERVAL_MS,
    retentionMs: CHANGE_RETENTION_MS,
    onError: (error) => log.warn({ err: error }, 'the change log cannot be read'),
  })
  const salts = new VisitorSalts({
    store,
    clock,
    random: systemRandom,
    onError: (error) => log.warn({ err: error }, 'the salts of visitors wait for the store'),
  })
  const [countries] = await Promise.all([openCountriesOf(config), follower.start(), salts.start()])

  const domainServices = openDomains(config, instance, log)
  const domainService = domainServices.domains
  await domainService.proveAllPending()

  const linkService = links({
    store,
    clock,
    random: systemRandom,
    domains: domainService,
    vault,
    serviceHost,
    appSchemes: config.appSchemes,
    claimOnLink: config.claimOnLink,
  })

  const intake = await startIntake(config, instance, log)
  const app = await buildApp(
    {
      links: linkService,
      domains: domainService,
      clicks: clicks({
        store,
        clock,
        links: linkService,
        domains: domainService,
        retentionDays: config.clickRetentionDays,
      }),
      domainChecks: domainServices.checks,
      authenticator: tokenAuthenticator,
      idempotency: idempotencyReader(deriveKey(instanceKey, 'idempotency')),
      baseUrl: config.baseUrl,
      rateLimit: config.rateLimit,
      throttle: new Throttle({
        clock,
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
  const front = createFront({
    isServiceHost: isOwn,
    api: (request, response) => app.routing(request, response),
    redirect: redirectHandler({
      finder,
      recorder: intake,
      makeClick: clickMaker({ clock, salts, countries }),
      vault,
      cookies: passwordCookies(deriveKey(instanceKey, 'password-cookie')),
      clock,
      trustedProxies: config.trustedProxies,
      serviceHostFor: (host) => (isOwn(host) ? sharedHost : undefined),
      onError,
    }),
  })
  const trimming = setInterval(() => trim(store, clock).catch(onError), TRIM_INTERVAL_MS)
  trimming.unref()
  const checking = domainServices.startChecking()

  try {
    await new Promise<void>((resolve, reject) => {
      front.once('error', reject)
      front.listen({ port: config.port, host: config.host }, resolve)
    })
  } catch (error) {
    await Promise.all([follower.stop(), salts.stop(), intake.stop(), checking.stop(), app.close()])
    throw error
  }
  // Only now: the thread takes a while to start, and no visitor should wait for it.
  intake.startDraining()

  return {
    port: (front.address() as AddressInfo).port,
    async stop() {
      clearInterval(trimming)
      const closed = new Promise((resolve) => front.close(resolve))
      const cutOff = setTimeout(() => front.closeAllConnections(), STOP_GRACE_MS)
      // A connection that was busy just now may be kept open by its client once it is answered.
      const closing = setInterval(() => front.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS)
      await closed
      clearInterval(closing)
      clearTimeout(cutOff)
      await Promise.all([
        follower.stop(),
        salts.stop(),
        intake.stop(),
        checking.stop(),
        app.close(),
      ])
    },
  }
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

function startIntake(config: Config, instance: Instance, log: Logger): Promise<ClickIntake> {
  return startClickIntake({
    dataDir: config.dataDir,
    store: instance.store,
    startWorker(journal) {
      const { databaseUrl, dataDir, clickRetentionDays: retentionDays } = config
      const workerData: DrainWorkerData = { databaseUrl, dataDir, journal, retentionDays }
      return new Worker(new URL('./drain-worker.ts', import.meta.url), {
        workerData,
        resourceLimits: { maxYoungGenerationSizeMb: DRAIN_YOUNG_MIB },
      })
    },
    durability: config.clickDurability,
    onLost: lossReporter(log, 'clicks could not be journalled and are lost'),
    onDoubt: lossReporter(log, 'the disk failed: clicks are lost should the machine stop now'),
    onDamage: (bytes, copy) =>
      log.error({ bytes, copy }, 'the click journal is damaged; set aside'),
    onError: (error) => log.warn({ err: error }, 'clicks wait in the journal'),
  })
}

/** Adds up what comes in quick succession, so that a full disk does not fill the log. */
function lossReporter(log: Logger, message: string): (count: number, error: unknown) => void {
  let unreported = 0
  let reportedAtMs = Number.NEGATIVE_INFINITY
  return (count, error) => {
    unreported += count
    if (performance.now() - reportedAtMs < LOSS_REPORT_INTERVAL_MS) return
    log.error({ err: error, clicks: unreported }, message)
    unreported = 0
    reportedAtMs = performance.now()
  }
}

/**
 * Forgets what nobody asks for any more, in steps between which others write. Any node may do it,
 * several at once too.
 */
async function trim(store: Store, clock: Clock): Promise<void> {
  const now = clock.nowMicros()
  const changesEnd = now - CHANGE_RETENTION_MS * 1_000
  while (await store.write((stores) => stores.changes.trim(changesEnd)));
  const idempotencyEnd = now - IDEMPOTENCY_RETENTION_MICROS
  while (await store.write((stores) => stores.idempotency.trim(idempotencyEnd)));
}
