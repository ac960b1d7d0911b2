import type { Clicks } from '../../clicks/report/clicks.ts'
import type { DomainChecks } from '../../domains/domain-checks.ts'
import type { DomainHttps } from '../../domains/domain-https.ts'
import type { Domains } from '../../domains/domains.ts'
import type { QuotaBook } from '../../identity/quotas/quota-book.ts'
import type { UsageReader } from '../../identity/quotas/usage.ts'
import type { Authenticator } from '../../identity/tokens/authenticator.ts'
import type { Links } from '../../links/links.ts'
import type { QrPictures } from '../../links/qr/qr-pictures.ts'
import type { ApiMeter } from '../../platform/http/api/api-meter.ts'
import type { Cursors } from '../../platform/http/api/cursor.ts'
import type { IdempotencyReader } from '../../platform/http/api/idempotency.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { Networks } from '../../platform/network/ip-address.ts'
import type { Readiness } from '../../platform/process/readiness.ts'

/** What the API stands on. */
export type AppDependencies = {
  readonly links: Links
  readonly domains: Domains
  readonly clicks: Clicks
  readonly domainChecks: DomainChecks
  readonly qrPictures: QrPictures
  /** Whether this node answers the API, or only what every node does. */
  readonly servesApi: boolean
  readonly domainHttps: DomainHttps
  readonly authenticator: Authenticator
  readonly idempotency: IdempotencyReader
  readonly cursors: Cursors
  /** The origin in the addresses that answers hold. */
  readonly baseUrl: string
  /** API requests per minute and token; 0 is off. */
  readonly rateLimit: number
  readonly throttle: Throttle
  readonly quotas: QuotaBook
  /** API requests per minute and workspace; each has its own limit. */
  readonly workspaceThrottle: Throttle
  readonly usage: UsageReader
  readonly readiness: Readiness
  /** What an operator should see. */
  readonly health: () => Health
  readonly apiMeter: ApiMeter
  readonly metrics: MetricsPage
}

/** What Prometheus reads, and who may. */
export type MetricsPage = {
  readonly contentType: string
  text(): Promise<string>
  readonly readers: Networks
  readonly trustedProxies: Networks
}

type Health = {
  /** Clicks that could not be journalled since the process started. */
  readonly lost_clicks: number
  /** Clicks that a failing disk may not have taken; they count unless the machine stops. */
  readonly doubtful_clicks: number
  /** Files of the data folder that a check has found damaged. */
  readonly damaged_files: readonly string[]
  /** Why nothing can be written to the data folder, for people; null while it can. */
  readonly data_folder_fault: string | null
}
