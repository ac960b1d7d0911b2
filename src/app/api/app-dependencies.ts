import type { LiveRouteDependencies } from '../../clicks/live/routes.ts'
import type { ClickRouteDependencies } from '../../clicks/routes.ts'
import type { HttpsRouteDependencies } from '../../domains/https-routes.ts'
import type { DomainRouteDependencies } from '../../domains/routes.ts'
import type { EventRouteDependencies } from '../../events/list-events.ts'
import type { ExportRouteDependencies } from '../../exports/routes.ts'
import type { AuthenticationDependencies } from '../../identity/authentication.ts'
import type {
  InvitationRouteDependencies,
  MemberRouteDependencies,
} from '../../identity/members/routes.ts'
import type { OidcBrowserDependencies } from '../../identity/oidc/routes.ts'
import type {
  AccountRouteDependencies,
  MeRouteDependencies,
  PasswordResetRouteDependencies,
} from '../../identity/people/routes.ts'
import type { QuotaBook } from '../../identity/quotas/quota-book.ts'
import type { UsageRouteDependencies } from '../../identity/quotas/routes.ts'
import type { SecondFactorRouteDependencies } from '../../identity/second-factors/routes.ts'
import type {
  SessionRouteDependencies,
  SetupRouteDependencies,
} from '../../identity/sign-in/routes.ts'
import type { TokenRouteDependencies } from '../../identity/tokens/routes.ts'
import type { WorkspaceRouteDependencies } from '../../identity/workspaces/routes.ts'
import type { ImportRouteDependencies } from '../../imports/routes.ts'
import type { BulkRouteDependencies } from '../../links/bulk-routes.ts'
import type { LinkExportDependencies } from '../../links/link-export.ts'
import type { QrRouteDependencies } from '../../links/qr/routes.ts'
import type { KeyRouteDependencies, LinkRouteDependencies } from '../../links/routes.ts'
import type { TagRouteDependencies } from '../../links/tag-routes.ts'
import type { UtmTemplateRouteDependencies } from '../../links/utm-templates/routes.ts'
import type { InstanceRouteDependencies } from '../../operations/instance/routes.ts'
import type { ApiMeter } from '../../platform/http/api/request-timing.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { Mailer } from '../../platform/mail/mailer.ts'
import type { Networks } from '../../platform/network/ip-address.ts'
import type { Readiness } from '../../platform/process/readiness.ts'

/** What the routes of the modules need. */
type RouteDependencies = LinkRouteDependencies &
  KeyRouteDependencies &
  LinkExportDependencies &
  BulkRouteDependencies &
  TagRouteDependencies &
  UtmTemplateRouteDependencies &
  ImportRouteDependencies &
  QrRouteDependencies &
  DomainRouteDependencies &
  HttpsRouteDependencies &
  ClickRouteDependencies &
  LiveRouteDependencies &
  UsageRouteDependencies &
  ExportRouteDependencies &
  EventRouteDependencies &
  SetupRouteDependencies &
  SessionRouteDependencies &
  MeRouteDependencies &
  WorkspaceRouteDependencies &
  MemberRouteDependencies &
  InvitationRouteDependencies &
  TokenRouteDependencies &
  AccountRouteDependencies &
  SecondFactorRouteDependencies &
  InstanceRouteDependencies &
  OidcBrowserDependencies &
  PasswordResetRouteDependencies

/** What the HTTP application needs. */
export type AppDependencies = RouteDependencies &
  AuthenticationDependencies & {
    /** Undefined when no mail is sent. */
    readonly mailer: Mailer | undefined
    /** Whether this node serves the API, or only the routes that every node has. */
    readonly servesApi: boolean
    /** API requests per minute and token or person; 0 is off. */
    readonly rateLimit: number
    /** How long an answer may take; `ANSWER_MS_MAX` where undefined. */
    readonly answerMsMax?: number | undefined
    readonly throttle: Throttle
    readonly quotas: QuotaBook
    readonly readiness: Readiness
    /** Faults for an operator to see in `/readyz`. */
    readonly health: () => Health
    readonly apiMeter: ApiMeter
    readonly metrics: MetricsPage
  }

/** What `/metrics` returns, and which networks may read it. */
export type MetricsPage = {
  readonly contentType: string
  text(): Promise<string>
  readonly readers: Networks
  readonly trustedProxies: Networks
}

type Health = {
  /** See `LostClicks`. */
  readonly lost_clicks: number
  /** Clicks that may not have reached a failing disk; they are counted unless the machine stops. */
  readonly doubtful_clicks: number
  /** Files of the data folder that the last check found damaged. */
  readonly damaged_files: readonly string[]
  /** Why nothing can be written to the data folder, for people; null while it can. */
  readonly data_folder_fault: string | null
  /** Why no click can be stored, for people; null while they can. */
  readonly journal_fault: string | null
  /** Whether less than `TERSE_DISK_LOW_PERCENT` of the disk of the data folder is free. */
  readonly is_disk_low: boolean
}
