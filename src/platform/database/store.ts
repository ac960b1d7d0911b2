import type { AcmeAccountStore } from '../../certificates/acme-account-store.ts'
import type { AcmeBudgetStore } from '../../certificates/acme-budget-store.ts'
import type { CertificateOrderStore } from '../../certificates/certificate-order-store.ts'
import type { CertificateStore } from '../../certificates/certificate-store.ts'
import type { ClickStore } from '../../clicks/click-store.ts'
import type { ClickReports } from '../../clicks/report/click-reports.ts'
import type { VisitorSaltStore } from '../../clicks/visitor-salt-store.ts'
import type { DomainCheckStore } from '../../domains/domain-check-store.ts'
import type { DomainStore } from '../../domains/domain-store.ts'
import type { HstsStore } from '../../domains/hsts-store.ts'
import type { KeyspaceStore } from '../../hosts/keyspace-store.ts'
import type { QuotaStore } from '../../identity/quotas/quota-store.ts'
import type { TokenStore } from '../../identity/tokens/token-store.ts'
import type { WorkspaceStore } from '../../identity/workspaces/workspace-store.ts'
import type { LinkDirectory } from '../../links/link-directory.ts'
import type { LinkStore } from '../../links/link-store.ts'
import type { NodeStore } from '../../operations/nodes/node-store.ts'
import type { Change } from '../changes/change.ts'
import type { ChangeLog } from '../changes/change-log.ts'
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts'
import type { InstanceStore } from '../instance/instance-store.ts'

/** The stores of the nouns, over one view of the data. */
export type Nouns = {
  readonly instance: InstanceStore
  readonly workspaces: WorkspaceStore
  readonly tokens: TokenStore
  readonly quotas: QuotaStore
  readonly keyspaces: KeyspaceStore
  readonly domains: DomainStore
  readonly domainChecks: DomainCheckStore
  readonly hsts: HstsStore
  readonly certificates: CertificateStore
  readonly certificateOrders: CertificateOrderStore
  readonly acmeAccounts: AcmeAccountStore
  readonly acmeBudgets: AcmeBudgetStore
  readonly links: LinkStore
  readonly directory: LinkDirectory
  readonly clicks: ClickStore
  readonly reports: ClickReports
  readonly visitorSalts: VisitorSaltStore
  readonly nodes: NodeStore
  readonly changes: ChangeLog
  readonly idempotency: IdempotencyStore
}

/**
 * The database, whichever it is. Every operation may throw `Failure.unavailable`: the database cannot
 * be reached, did not answer in time, or cannot write.
 */
export type Store = {
  /** What has been committed. */
  readonly read: Nouns
  /**
   * Runs `work` as one atomic unit and settles when it is on disk, or undone because `work` threw.
   * `work` must await nothing but the stores it is given: other units may be waiting behind it. It
   * may be run again when another writer was in its way, so it must not change anything else.
   */
  write<T>(work: (stores: Nouns) => Promise<T>): Promise<T>
  /**
   * Calls `listener` with the changes of each commit, which may hold several units, before their
   * `write` settles.
   */
  onChange(listener: (changes: readonly Change[]) => void): void
  /**
   * Calls `listener` when another process says that it has changed something. Nothing may rest on it:
   * an engine need not tell, and what it tells may be lost.
   */
  onNews(listener: () => void): void
  /** Whether the database answers, as far as this process knows. */
  isAvailable(): boolean
  close(): Promise<void>
}

/** A unique constraint stood in the way of an update. The unit must not go on after it. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** The row was changed since it was read. `write` runs the unit again. */
export class StaleRow extends Error {
  override readonly name = 'StaleRow'
}

/** More links than allowed have keys that differ only by letter case. The unit must not go on after it. */
export class TooManyVariants extends Error {
  override readonly name = 'TooManyVariants'
}
