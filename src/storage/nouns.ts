import type { Kysely } from 'kysely'
import type { ChangeLog } from '../domain/changes/change-log.ts'
import type { Nouns } from '../domain/store.ts'
import { clickStore } from './click-store.ts'
import { domainCheckStore } from './domain-check-store.ts'
import { domainStore } from './domain-store.ts'
import { idempotencyStore } from './idempotency-store.ts'
import { instanceStore } from './instance-store.ts'
import { keyspaceStore } from './keyspace-store.ts'
import { linkDirectory } from './link-directory.ts'
import { linkStore } from './link-store.ts'
import type { Schema } from './schema.ts'
import { tokenStore } from './token-store.ts'
import { workspaceStore } from './workspace-store.ts'

/**
 * Every noun's store over one connection or transaction.
 *
 * @param scans for queries that may look at many rows
 */
export function nouns(db: Kysely<Schema>, scans: Kysely<Schema>, changes: ChangeLog): Nouns {
  return {
    instance: instanceStore(db),
    workspaces: workspaceStore(db),
    tokens: tokenStore(db),
    keyspaces: keyspaceStore(db),
    domains: domainStore(db),
    domainChecks: domainCheckStore(db),
    links: linkStore(db, scans),
    directory: linkDirectory(db),
    clicks: clickStore(db),
    changes,
    idempotency: idempotencyStore(db),
  }
}
