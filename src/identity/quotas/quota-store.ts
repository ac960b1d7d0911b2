import type { QuotaOverrides, Usage } from './quota.ts'

export type QuotaStore = {
  /** Undefined for a workspace that has no limits of its own. */
  find(workspaceId: string): Promise<QuotaOverrides | undefined>
  /** Of all workspaces that have limits of their own, by their identifiers. */
  list(): Promise<ReadonlyMap<string, QuotaOverrides>>
  set(workspaceId: string, overrides: QuotaOverrides): Promise<void>
  /** Has other units that lock the same workspace wait until this one has ended. */
  lock(workspaceId: string): Promise<void>
  /** Adds up one number for each 1,024 links. */
  countLinks(workspaceId: string): Promise<Pick<Usage, 'links' | 'storage_bytes'>>
  /** Looks at each of the workspace's domains. */
  countDomains(workspaceId: string): Promise<Pick<Usage, 'domains' | 'pending_domains'>>
}
