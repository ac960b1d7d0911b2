import type { Kysely } from 'kysely'
import type { ChangeLog } from '../domain/changes/change-log.ts'
import type { Nouns } from '../domain/store.ts'
import { acmeAccountStore } from './acme-account-store.ts'
import { acmeBudgetStore } from './acme-budget-store.ts'
import { certificateOrderStore } from './certificate-order-store.ts'
import { certificateStore } from './certificate-store.ts'
import { clickReports, type RawClickPages } from './click-reports.ts'
import { clickStore } from './click-store.ts'
import { domainCheckStore } from './domain-check-store.ts'
import { domainStore } from './domain-store.ts'
import { hstsStore } from './hsts-store.ts'
import { idempotencyStore } from './idempotency-store.ts'
import { instanceStore } from './instance-store.ts'
import { keyspaceStore } from './keyspace-store.ts'
import { linkDirectory } from './link-directory.ts'
import type { FindPage } from './link-scan.ts'
import { type LockName, linkStore } from './link-store.ts'
import { nodeStore } from './node-store.ts'
import type { Pending } from './pending-writes.ts'
import { quotaStore } from './quota-store.ts'
import type { Scans } from './scans.ts'
import type { Schema } from './schema.ts'
import { tokenStore } from './token-store.ts'
import { visitorSaltStore } from './visitor-salt-store.ts'
import { workspaceStore } from './workspace-store.ts'

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
