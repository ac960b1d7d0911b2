import type { FastifyInstance } from 'fastify'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import { LIVE_QUEUE, LiveClicks } from '../../clicks/live/live-clicks.ts'
import { CHART_QUEUE, Clicks, EXPORT_QUEUE } from '../../clicks/report/clicks.ts'
import { DomainHttps } from '../../domains/domain-https.ts'
import { IncludedOfDomains } from '../../domains/included.ts'
import { EVENT_QUEUE, Events } from '../../events/events.ts'
import { usageReader } from '../../identity/quotas/quota-book.ts'
import type { SessionCache } from '../../identity/sign-in/sessions.ts'
import type { Authenticator } from '../../identity/tokens.ts'
import type { Imports } from '../../imports/imports.ts'
import { UPLOAD_QUEUE } from '../../imports/routes.ts'
import { BulkLinks } from '../../links/bulk-links.ts'
import { BULK_QUEUE } from '../../links/bulk-routes.ts'
import { LINK_EXPORT_QUEUE } from '../../links/link-export.ts'
import { LinkKeys } from '../../links/link-keys.ts'
import { SEARCH_QUEUE } from '../../links/link-query.ts'
import { Links } from '../../links/links.ts'
import type { QrPictures } from '../../links/qr/qr-pictures.ts'
import { TAG_QUEUE, Tags } from '../../links/tags.ts'
import { UtmTemplates } from '../../links/utm-templates/utm-templates.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { sealing } from '../../platform/crypto/sealing.ts'
import { cursors } from '../../platform/http/api/cursor.ts'
import { IDEMPOTENCY_LIMITS, idempotencyOf } from '../../platform/http/api/idempotency.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import { CONTENT_TYPE } from '../../platform/metrics/metric.ts'
import { buildApp } from '../api/app.ts'
import type { AppDependencies } from '../api/app-dependencies.ts'
import type { AppContext } from '../instance/app-context.ts'
import type { DomainServices } from '../instance/domains.ts'
import { openExports } from '../instance/exports.ts'
import { openIdentity } from '../instance/identity.ts'
import { openLinkWriter } from '../instance/link-writer.ts'
import type { Observation } from '../metrics/observation.ts'
import { openCountedUntil } from './counted-until.ts'
import type { DataFolder } from './data-folder.ts'
import { openDiagnosis } from './diagnosis.ts'
import { instanceStateReader } from './instance-state.ts'
import { journalFaultText } from './intake.ts'

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
  const { keyspaces, writer } = openLinkWriter(context, domains)
  const searches = queues.open(SEARCH_QUEUE)
  const links = new Links({ store, clock, random, domains, serviceHost, writer, searches })
  const { clicks, liveClicks } = openClicks(context, { links, domains })
  const observed = {
    readiness: observation.readiness,
    health: healthOf(config, parts),
    countedUntil: openCountedUntil({ intake: parts.intake, nodes: instance.nodes, clock }),
  }
  const app = await buildApp(
    {
      links,
      linkExports: queues.open(LINK_EXPORT_QUEUE),
      linkKeys: new LinkKeys({ store, random, serviceHost, keyspaces }),
      bulkLinks: new BulkLinks({ store, clock, random, domains, writer }),
      bulkRequests: queues.open(BULK_QUEUE),
      tags: new Tags({ store, clock, quotas, searches, changes: queues.open(TAG_QUEUE) }),
      utmTemplates: new UtmTemplates({ store, clock, random }),
      imports: parts.imports,
      uploads: queues.open(UPLOAD_QUEUE),
      domains,
      includedOfDomains: new IncludedOfDomains({
        store,
        countLinks: (actor, on) => links.countByHost(actor, on),
      }),
      clicks,
      liveClicks,
      events: new Events({ store, lists: queues.open(EVENT_QUEUE) }),
      domainChecks: checks,
      qrPictures,
      servesApi: config.roles.includes('api'),
      domainHttps: new DomainHttps({ store, clock }),
      authenticator,
      ...openIdentity(context, sessionCache),
      clock,
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
      baseUrl: config.baseUrl,
      quotas,
      rateLimit: config.rateLimit,
      answerMsMax: context.answerMsMax,
      throttle: throttles.create('api-requests', {
        limit: config.rateLimit,
        windowSeconds: RATE_WINDOW_SECONDS,
        keysMax: RATE_TOKENS_MAX,
      }),
      workspaceThrottle: throttles.create('workspace-requests', {
        limit: 0,
        windowSeconds: RATE_WINDOW_SECONDS,
        keysMax: RATE_TOKENS_MAX,
      }),
      ...observed,
      instanceState: instanceStateReader(config, instance, observed),
      diagnose: openDiagnosis(config, clock),
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

/** Returns how to read the faults of this node that operators see. */
function healthOf(
  config: AppContext['config'],
  { intake, observation, dataFolder }: ApiParts,
): AppDependencies['health'] {
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
  const shared = { store, clock, links, domains, charts }
  const { clickRetentionDays: retentionDays } = config
  const clicks = new Clicks({ ...shared, retentionDays, exports: queues.open(EXPORT_QUEUE) })
  const liveClicks = new LiveClicks({
    ...shared,
    streams: queues.open(LIVE_QUEUE),
    onError: (err) => log.warn({ err }, 'reading live clicks failed'),
  })
  return { clicks, liveClicks }
}
