import type { FastifyInstance } from 'fastify'
import type { ClickIntake } from '../clicks/click-intake.ts'
import { CHART_QUEUE, clicks, EXPORT_QUEUE } from '../domain/clicks/clicks.ts'
import { domainHttps } from '../domain/domains/domain-https.ts'
import { deriveKey } from '../domain/instance/instance-keys.ts'
import { SEARCH_QUEUE } from '../domain/links/link-search.ts'
import { links } from '../domain/links/links.ts'
import type { QrPictures } from '../domain/qr/qr-pictures.ts'
import { usageOf } from '../domain/quotas/usage.ts'
import type { Authenticator } from '../domain/tokens/authenticator.ts'
import { buildApp } from '../http/app.ts'
import { cursors } from '../http/cursor.ts'
import { IDEMPOTENCY_LIMITS, idempotencyReader } from '../http/idempotency.ts'
import { systemRandom } from '../lib/random.ts'
import { CONTENT_TYPE } from '../metrics/exposition.ts'
import type { DataFolder } from './data-folder.ts'
import type { DomainServices } from './domains.ts'
import { type Foundation, vaultOf } from './foundation.ts'
import type { Observation } from './observation.ts'

const RATE_WINDOW_SECONDS = 60
const RATE_TOKENS_MAX = 100_000

/** What the API needs that other parts of the node use too. */
type ApiParts = Pick<DomainServices, 'domains' | 'checks'> & {
  readonly authenticator: Authenticator
  readonly intake: ClickIntake
  readonly observation: Observation
  readonly dataFolder: DataFolder
  readonly qrPictures: QrPictures
}

/** To be loaded once visitors are served: it is half of what there is to load. */
export function openApi(
  foundation: Foundation,
  { authenticator, domains, checks, intake, observation, dataFolder, qrPictures }: ApiParts,
): Promise<FastifyInstance> {
  const { config, instance, log, serviceHost, throttles, queues } = foundation
  const { store, clock, instanceKey, quotas } = instance
  const linkService = links({
    store,
    clock,
    random: systemRandom,
    domains,
    vault: vaultOf(foundation),
    serviceHost,
    appSchemes: config.appSchemes,
    claimOnLink: config.claimOnLink,
    quotas,
    searches: queues.open(SEARCH_QUEUE),
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
        charts: queues.open(CHART_QUEUE),
        exports: queues.open(EXPORT_QUEUE),
      }),
      domainChecks: checks,
      qrPictures,
      servesApi: config.roles.includes('api'),
      domainHttps: domainHttps({ store, clock }),
      authenticator,
      idempotency: idempotencyReader(
        deriveKey(instanceKey, 'idempotency'),
        throttles.create('idempotency', { ...IDEMPOTENCY_LIMITS, keysMax: RATE_TOKENS_MAX }),
      ),
      cursors: cursors(deriveKey(instanceKey, 'list-cursor'), systemRandom),
      usage: usageOf({ store, quotas }),
      baseUrl: config.baseUrl,
      quotas,
      rateLimit: config.rateLimit,
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
      readiness: observation.readiness,
      health: () => ({
        lost_clicks: intake.lost(),
        doubtful_clicks: intake.doubtful(),
        damaged_files: observation.fileHealth?.damagedFiles() ?? [],
        data_folder_fault: dataFolder.faultText ?? null,
      }),
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
