import type { Page, Run } from '../platform/database/page.ts'
import type { Domain, DomainStatus } from './domain.ts'

/** A place in the order of creation, where equal instants are ordered by identifier. */
export type DomainMark = Pick<Domain, 'created_at' | 'id'>

/** Consecutive domains of a workspace in the order of creation. */
export type DomainRun = {
  readonly workspaceId: string
  readonly limit: number
  readonly descending: boolean
  /** Where the run begins, whether or not a domain is there; the list's beginning when undefined. */
  readonly beyond: DomainMark | undefined
}

export type DomainStore = {
  findById(workspaceId: string, id: string): Promise<Domain | undefined>
  /** The workspace's own claim. */
  findByHost(workspaceId: string, host: string): Promise<Domain | undefined>
  /** The one active claim, whosever it is. */
  findActive(host: string): Promise<Domain | undefined>
  /** Those of `hosts` that are active, or claimed by the workspace. */
  servedAmong(workspaceId: string, hosts: readonly string[]): Promise<readonly string[]>
  /** False when the workspace has claimed the host already. */
  insert(domain: Domain): Promise<boolean>
  /**
   * Writes everything but the identifiers over the row that was last changed at `readAt`.
   *
   * @throws {StaleRow} when it was changed since
   * @throws {UniqueViolation} when the workspace has claimed the new host already
   */
  update(domain: Domain, readAt: number): Promise<void>
  /** Makes a pending claim active. False when it is not pending, or not on this host, any more. */
  activate(id: string, host: string, atMicros: number): Promise<boolean>
  /** Makes an active claim pending. False when it is not active, or not on this host, any more. */
  deactivate(id: string, host: string, atMicros: number): Promise<boolean>
  /** What was deleted. */
  delete(workspaceId: string, id: string): Promise<Domain | undefined>
  /** Newest first. */
  page(workspaceId: string, offset: number, limit: number): Promise<Page<Domain>>
  run(run: DomainRun): Promise<Run<Domain, DomainMark>>
  /** How many domains the workspace has. */
  count(workspaceId: string): Promise<number>
  /** How many claims there are of each status. Looks at all of them. */
  countByStatus(): Promise<readonly { readonly status: DomainStatus; readonly count: number }[]>
  /** All pending claims on a host, oldest first. */
  pendingOn(host: string): Promise<readonly Domain[]>
  /** Pending claims in the order of their identifiers, from the one after `afterId`. */
  pendingAfter(afterId: string, limit: number): Promise<readonly Domain[]>
}
