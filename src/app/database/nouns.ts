import type { Kysely } from 'kysely'
import { acmeAccountStore } from '../../certificates/store/acme-account-store.ts'
import { acmeBudgetStore } from '../../certificates/store/acme-budget-store.ts'
import { certificateOrderStore } from '../../certificates/store/certificate-order-store.ts'
import { certificateStore } from '../../certificates/store/certificate-store.ts'
import { clickReports, type RawClickPages } from '../../clicks/store/click-reports.ts'
import { clickStore } from '../../clicks/store/click-store.ts'
import { visitorSaltStore } from '../../clicks/store/visitor-salt-store.ts'
import { domainCheckStore } from '../../domains/store/domain-check-store.ts'
import { domainStore } from '../../domains/store/domain-store.ts'
import { hstsStore } from '../../domains/store/hsts-store.ts'
import { keyspaceStore } from '../../hosts/store/keyspace-store.ts'
import { quotaStore } from '../../identity/quotas/store/quota-store.ts'
import { tokenStore } from '../../identity/tokens/store/token-store.ts'
import { workspaceStore } from '../../identity/workspaces/store/workspace-store.ts'
import { linkDirectory } from '../../links/store/link-directory.ts'
import type { FindPage } from '../../links/store/link-scan.ts'
import { type LockName, linkStore } from '../../links/store/link-store.ts'
import { nodeStore } from '../../operations/nodes/store/node-store.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Pending } from '../../platform/database/pending-writes.ts'
import type { Scans } from '../../platform/database/scans.ts'
import type { Schema } from '../../platform/database/schema.ts'
import type { Nouns } from '../../platform/database/store.ts'
import { idempotencyStore } from '../../platform/idempotency/store/idempotency-store.ts'
import { instanceStore } from '../../platform/instance/store/instance-store.ts'

/** In what the engines differ here. */
export type EngineTraits = {
  readonly changeLog: (db: Kysely<Schema>, pending: Pending) => ChangeLog
  readonly rawClicks: (scans: Scans) => RawClickPages
  readonly findPage: FindPage
  /**
   * Whether an insert tells the new row's number by itself. Where it does, it is not asked for by
   * `returning`, for which SQLite fills a table of its own.
   */
  readonly tellsInsertId: boolean
  /** Undefined where one transaction writes at a time. */
  readonly lockName?: LockName
  /** As `LinkStore.skipNumbers` does. */
  readonly skipLinkNumbers: (db: Kysely<Schema>, seq: number) => Promise<void>
}

/**
 * Every noun's store over one connection or transaction.
 *
 * @param on.scans for queries that may look at many rows
 */
export function nouns(
  { changeLog, rawClicks, findPage, tellsInsertId, lockName, skipLinkNumbers }: EngineTraits,
  on: { db: Kysely<Schema>; scans: Scans; pending: Pending },
): Nouns {
  const { db, pending } = on
  return {
    instance: instanceStore(db, pending),
    workspaces: workspaceStore(db),
    tokens: tokenStore(db),
    quotas: quotaStore(db, pending, lockName),
    keyspaces: keyspaceStore(db),
    domains: domainStore(db),
    domainChecks: domainCheckStore(db),
    hsts: hstsStore(db),
    certificates: certificateStore(db),
    certificateOrders: certificateOrderStore(db),
    acmeAccounts: acmeAccountStore(db),
    acmeBudgets: acmeBudgetStore(db),
    links: linkStore({ ...on, findPage, tellsInsertId, lockName, skipLinkNumbers }),
    directory: linkDirectory(db),
    clicks: clickStore(db),
    reports: clickReports(db, on.scans, rawClicks(on.scans)),
    visitorSalts: visitorSaltStore(db),
    nodes: nodeStore(db),
    changes: changeLog(db, pending),
    idempotency: idempotencyStore(db, pending),
  }
}
