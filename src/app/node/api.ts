import type { FastifyInstance } from 'fastify'
import { isAccessSecret } from '../../assistants/assistant.ts'
import { Assistants } from '../../assistants/assistants.ts'
import { CLIENT_QUEUE, Clients } from '../../assistants/clients.ts'
import { OAUTH_LIMITS } from '../../assistants/oauth-routes.ts'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import { LIVE_QUEUE, LiveClicks } from '../../clicks/live-clicks.ts'
import { CHART_QUEUE, Clicks, EXPORT_QUEUE } from '../../clicks/report/clicks.ts'
import { Compat } from '../../compat/compat.ts'
import { Conversions } from '../../conversions/conversions.ts'
import { CONVERSION_QUEUE } from '../../conversions/report.ts'
import { ConversionSettingsService } from '../../conversions/settings.ts'
import { visitTokens } from '../../conversions/token.ts'
import { DomainHttps } from '../../domains/domain-https.ts'
import { DomainSettingsService } from '../../domains/domain-settings.ts'
import { IncludedOfDomains } from '../../domains/list-domains.ts'
import { EVENT_QUEUE, Events } from '../../events/events.ts'
import { LinkHistory } from '../../events/link-history.ts'
import { Explanations } from '../../explain/explanations.ts'
import { exampleTrial } from '../../explain/try-examples.ts'
import type { MadeUpFacts } from '../../explain/visitor.ts'
import { usageReader } from '../../identity/quotas/quota-book.ts'
import type { SessionCache } from '../../identity/sign-in/sessions.ts'
import type { Authenticator } from '../../identity/tokens.ts'
import type { Imports } from '../../imports/imports.ts'
import { UPLOAD_QUEUE } from '../../imports/routes.ts'
import { BulkLinks } from '../../links/bulk-links.ts'
import { BULK_QUEUE } from '../../links/bulk-routes.ts'
import { Labels } from '../../links/labels.ts'
import { LINK_EXPORT_QUEUE } from '../../links/link-export.ts'
import { LinkKeys } from '../../links/link-keys.ts'
import { SEARCH_QUEUE } from '../../links/link-query.ts'
import { Links } from '../../links/links.ts'
import { Images } from '../../links/previews/images.ts'
import { PreviewThreads } from '../../links/previews/preview-threads.ts'
import { PREVIEW_QUEUE, Previews } from '../../links/previews/previews.ts'
import type { QrPictures } from '../../links/qr/qr-pictures.ts'
import { TAG_QUEUE, Tags } from '../../links/tags.ts'
import { UtmTemplates } from '../../links/utm-templates/utm-templates.ts'
import type { InstanceState } from '../../operations/routes.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { sealing } from '../../platform/crypto/sealing.ts'
import { cursors } from '../../platform/http/api/cursor.ts'
import { IDEMPOTENCY_LIMITS, idempotencyOf } from '../../platform/http/api/idempotency.ts'
import { CONTENT_TYPE } from '../../platform/metrics/metric.ts'
import { isPrivateAddress } from '../../platform/network/ip-address.ts'
import { VERSION } from '../../platform/process/version.ts'
import type { LinkFinder } from '../../redirects/find-link.ts'
import { ShownLinks } from '../../redirects/shown-links.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import { type ApiServices, buildApp } from '../api/app.ts'
import type { Health, ServiceRouteDependencies } from '../api/service-routes.ts'
import type { DomainServices } from '../composition/domains.ts'
import { openIdentity } from '../composition/identity.ts'
import {
  type AppContext,
  type Instance,
  logUnexpected,
  secretSealingOf,
} from '../composition/instance.ts'
import { openExports, openLinkWriter } from '../composition/services.ts'
import { openWebhooks } from '../composition/webhooks.ts'
import type { Config } from '../config/config.ts'
import { countCertificates } from '../metrics/metric-sources.ts'
import type { Observation } from '../metrics/observation.ts'
import type { DataFolder } from './data-folder.ts'
import { openDiagnosis } from './diagnosis.ts'
import { openCountedUntil } from './heartbeat.ts'
import { journalFaultText } from './intake.ts'
import { serviceHostsOf } from './redirects.ts'

const RATE_WINDOW_SECONDS = 60
const RATE_TOKENS_MAX = 100_000

/** What the API shares with other parts of the node. */
type ApiParts = Pick<DomainServices, 'domains' | 'checks'> & {
  readonly authenticator: Authenticator
  readonly sessionCache: SessionCache
  readonly intake: ClickIntake
  readonly observation: Observation
  readonly dataFolder: DataFolder
  readonly qrPictures: QrPictures
  readonly imports: Imports
  readonly finder: LinkFinder
  readonly visitorFacts: MadeUpFacts
}

/** The API's application. */
export type Api = {
  readonly app: FastifyInstance
  /** Ends the answers that would last until their clients leave. */
  endStreams(): void
}

/** Load this module once redirects are served: it is half of the program's code. */
export async function openApi(context: AppContext, parts: ApiParts): Promise<Api> {
  const { authenticator, sessionCache, domains, checks, observation, qrPictures } = parts
  const { config, instance, log, serviceHost, throttles, queues } = context
  const { store, clock, instanceKey, quotas } = instance
  const random = systemRandom
  const tryExamples = exampleTrial(parts.visitorFacts)
  const { keyspaces, writer, ruleSets } = openLinkWriter(context, domains, tryExamples)
  const searches = queues.open(SEARCH_QUEUE)
  const links = new Links({ store, clock, random, domains, serviceHost, writer, searches })
  const { clicks, liveClicks } = openClicks(context, { links, domains })
  const observed = observedOf(context, parts)
  const base = { store, clock, random }
  const decisions = openDecisions(context, parts)
  const identity = openIdentity(context, sessionCache)
  const limits = openRequestLimits(context)
  const { workspaceThrottle } = limits
  const shared = { authenticator, clock, quotas, workspaceThrottle, baseUrl: config.baseUrl }
  const services: ApiServices = {
    ...shared,
    ...identity,
    links,
    explanations: new Explanations({
      ...decisions,
      ...{ links, clicks, tryExamples, visitorFacts: parts.visitorFacts },
    }),
    shownLinks: new ShownLinks(decisions),
    ...openPreviews(context, links),
    linkExports: queues.open(LINK_EXPORT_QUEUE),
    linkKeys: new LinkKeys({ store, random, serviceHost, keyspaces }),
    bulkLinks: new BulkLinks({ ...base, domains, writer }),
    bulkRequests: queues.open(BULK_QUEUE),
    tags: new Tags({ store, clock, quotas, searches, changes: queues.open(TAG_QUEUE) }),
    labels: new Labels(base),
    ...openConversions(context, links),
    ...openPrograms(context, authenticator),
    utmTemplates: new UtmTemplates(base),
    ...{ ruleSets, imports: parts.imports },
    uploads: queues.open(UPLOAD_QUEUE),
    domains,
    includedOfDomains: new IncludedOfDomains({
      store,
      countLinks: (actor, on) => links.countByHost(actor, on),
    }),
    domainChecks: checks,
    domainHttps: new DomainHttps({ store, clock }),
    domainSettings: new DomainSettingsService({ store, clock, serviceHost }),
    clicks,
    ...{ liveClicks, linkHistory: new LinkHistory({ store, links }) },
    ...openEvents(context),
    qrPictures,
    idempotency: idempotencyOf({
      key: deriveKey(instanceKey, 'idempotency'),
      throttle: throttles.create('idempotency', {
        ...IDEMPOTENCY_LIMITS,
        keysMax: RATE_TOKENS_MAX,
      }),
      sealing: sealing(deriveKey(instanceKey, 'idempotency-results'), random),
    }),
    cursors: cursors(deriveKey(instanceKey, 'list-cursor'), random),
    workspaceExports: openExports(config, instance, queues),
    usage: usageReader({ store, quotas }),
    countedUntil: observed.countedUntil,
    instanceState: instanceStateReader(config, instance, observed),
    diagnose: openDiagnosis(config, clock),
  }
  const app = await buildApp(
    {
      ...shared,
      ...identity,
      ...observed,
      api: config.roles.includes('api') ? services : undefined,
      findProgram: programFinder(services.assistants),
      rateLimit: config.rateLimit,
      answerMsMax: context.answerMsMax,
      ...limits,
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
  return { app, endStreams: () => liveClicks.stop() }
}

/** Returns what decides about visitors who are made up. */
function openDecisions(
  { config, instance: { store, clock }, serviceHost }: AppContext,
  { finder }: Pick<ApiParts, 'finder'>,
) {
  return {
    ...{ finder, clock, service: serviceHost, serviceHostFor: serviceHostsOf(config, serviceHost) },
    async isUsedUp(linkSeq: number) {
      const use = await store.read.clickLeases.findUse(linkSeq, clock.nowMicros())
      return use !== undefined && use.left === 0 && use.held === 0
    },
  }
}

function openEvents(context: AppContext) {
  const { instance, queues } = context
  const events = new Events({ store: instance.store, lists: queues.open(EVENT_QUEUE) })
  return { events, webhooks: openWebhooks(context) }
}

function openConversions({ instance, queues }: AppContext, links: Links) {
  const { store, clock, quotas, instanceKey } = instance
  const conversions = new Conversions({
    ...{ store, clock, quotas, links, random: systemRandom },
    tokens: visitTokens(deriveKey(instanceKey, 'visit-token'), systemRandom),
    key: deriveKey(instanceKey, 'conversion-keys'),
    lists: queues.open(CONVERSION_QUEUE),
  })
  return { conversions, conversionSettings: new ConversionSettingsService({ store, clock }) }
}

/** What programs of others reach the service through. */
function openPrograms(
  { config, instance, queues, throttles, log }: AppContext,
  authenticator: Authenticator,
) {
  const { store, clock, instanceKey } = instance
  const { baseUrl, registersClients } = config
  const base = { store, clock, random: systemRandom, baseUrl }
  const mayReach = (address: string) => !isPrivateAddress(address)
  const clients = new Clients({ ...base, mayReach, reads: queues.open(CLIENT_QUEUE) })
  const onError = logUnexpected(log, 'last use of an assistant')
  return {
    clients,
    assistants: new Assistants({ ...base, clients, onError }),
    compat: new Compat({
      ...{ store, clock, authenticator, baseUrl },
      secretSealing: secretSealingOf(instanceKey),
    }),
    registersClients,
    oauthThrottle: throttles.create('oauth-requests', OAUTH_LIMITS),
  }
}

function programFinder(assistants: Assistants) {
  return (secret: string) =>
    isAccessSecret(secret) ? assistants.authenticate(secret, 'api') : undefined
}

function openPreviews({ config, instance, queues }: AppContext, links: Links) {
  const { store, clock, quotas } = instance
  const { baseUrl, previewNetworks } = config
  const threads = new PreviewThreads(queues)
  const images = new Images({ store, clock, quotas, threads, baseUrl })
  const mayReach = (address: string) => !isPrivateAddress(address) || previewNetworks.has(address)
  const reads = queues.open(PREVIEW_QUEUE)
  return { images, previews: new Previews({ links, images, threads, reads, mayReach, baseUrl }) }
}

function openRequestLimits({ config, throttles }: AppContext) {
  const bounds = { windowSeconds: RATE_WINDOW_SECONDS, keysMax: RATE_TOKENS_MAX }
  return {
    throttle: throttles.create('api-requests', { ...bounds, limit: config.rateLimit }),
    workspaceThrottle: throttles.create('workspace-requests', { ...bounds, limit: 0 }),
  }
}

/** What operators see of this node, and how far counting is. */
function observedOf({ config, instance: { nodes, clock } }: AppContext, parts: ApiParts) {
  const { intake, observation } = parts
  return {
    readiness: observation.readiness,
    health: healthOf(config, parts),
    clicksFault: observation.clicksFault,
    countedUntil: openCountedUntil({ intake, nodes, clock }),
  }
}

/** Returns how to read the faults of this node that operators see. */
function healthOf(
  config: AppContext['config'],
  { intake, observation, dataFolder }: ApiParts,
): () => Health {
  return () => ({
    lost_clicks: intake.counts.lost,
    doubtful_clicks: intake.counts.doubtful,
    damaged_files: observation.fileHealth?.damagedFiles() ?? [],
    data_folder_fault: dataFolder.faultText ?? null,
    journal_fault: journalFaultText(config, intake) ?? null,
    is_disk_low: dataFolder.isLow,
  })
}

function openClicks(
  { config, instance, log, queues }: AppContext,
  { links, domains }: { links: Links; domains: ApiParts['domains'] },
) {
  const { store, clock } = instance
  const charts = queues.open(CHART_QUEUE)
  const { conversions } = store.read
  const shared = { store, clock, links, domains, charts, conversions }
  const { clickRetentionDays: retentionDays } = config
  const clicks = new Clicks({ ...shared, retentionDays, exports: queues.open(EXPORT_QUEUE) })
  const liveClicks = new LiveClicks({
    ...shared,
    streams: queues.open(LIVE_QUEUE),
    onError: (err) => log.warn({ err }, 'reading live clicks failed'),
  })
  return { clicks, liveClicks }
}

/** Returns how to read what this node and the database know about the instance. */
function instanceStateReader(
  { baseUrl, tls }: Pick<Config, 'baseUrl' | 'tls'>,
  instance: Instance,
  {
    readiness,
    health,
    clicksFault,
    countedUntil,
  }: Pick<ServiceRouteDependencies, 'readiness' | 'health' | 'clicksFault' | 'countedUntil'>,
): () => Promise<InstanceState> {
  return async () => {
    const [roles, clicks_fault, counted_until, nodes, certificates] = await Promise.all([
      readiness.check(),
      clicksFault(),
      countedUntil(),
      instance.nodes.list(),
      tls === undefined ? null : countCertificates(instance),
    ])
    const { damaged_files, ...state } = health()
    const states = [...roles].map(([role, can]) => [role, can ? 'ok' : 'unavailable'] as const)
    return {
      version: VERSION,
      node_version: process.versions.node,
      base_url: baseUrl,
      database: instance.engine,
      roles: Object.fromEntries(states),
      ...state,
      damaged_files: [...damaged_files],
      clicks_fault,
      counted_until,
      nodes,
      certificates,
    }
  }
}
