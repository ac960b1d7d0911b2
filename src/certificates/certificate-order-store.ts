import type {
  ActiveChallenge,
  CertificateOrder,
  LeasedOrder,
  OrderQueue,
} from './certificate-order.ts'

/** What is written as a lease ends. */
export type FinishedOrder = Pick<CertificateOrder, 'nextAt'> &
  Partial<Omit<CertificateOrder, 'host' | 'workspaceId'>>

/** One row for each host that should have a certificate. */
export type CertificateOrderStore = {
  find(host: string): Promise<CertificateOrder | undefined>
  /** Returns the challenge that the authority may check at this moment. */
  findChallenge(host: string): Promise<ActiveChallenge | undefined>
  /** Adds a host, due at once; does nothing when it has a row. */
  add(
    host: string,
    place: Pick<CertificateOrder, 'workspaceId' | 'queue'>,
    now: number,
  ): Promise<void>
  /**
   * Moves a host to the workspace in which it is active now. A failure in the previous workspace is
   * cleared and the host is due at once; an ongoing order continues.
   */
  assign(host: string, workspaceId: string, now: number): Promise<void>
  /** Removes a host and its ongoing order. False when it had no row. */
  remove(host: string): Promise<boolean>
  /** Active hosts without a row, by name, after `after`. */
  findMissing(after: string, limit: number): Promise<readonly string[]>
  /** Hosts with a row that are not active in the row's workspace, by name, after `after`. */
  findOutdated(after: string, limit: number): Promise<readonly string[]>
  /** Makes a failed order due at once, unless the authority has asked to wait with it. */
  makeDue(host: string, now: number): Promise<void>
  /** How many hosts have a failure. */
  countFailing(): Promise<number>
  /** The workspaces of hosts of a queue that became due in a period, leased or not. */
  findDueWorkspaces(queue: OrderQueue, from: number, to: number): Promise<readonly string[]>
  /**
   * Leases up to `limit` hosts of a queue that are due and not leased: one of each workspace in turn,
   * those of a workspace in the order in which they became due.
   *
   * @param shares how many hosts each workspace may get, in the order of their turns
   */
  leaseDue(
    queue: OrderQueue,
    shares: ReadonlyMap<string, number>,
    now: number,
    leaseUntil: number,
    limit: number,
  ): Promise<{ readonly leases: readonly LeasedOrder[]; readonly idle: readonly string[] }>
  /** Extends a lease. False when it was lost. */
  extend(host: string, fence: number, leaseUntil: number): Promise<boolean>
  /** Saves the progress of an order. False when the lease was lost: nothing is written then. */
  advance(
    host: string,
    fence: number,
    changes: Partial<Pick<CertificateOrder, 'ongoing' | 'challenge' | 'queue'>>,
  ): Promise<boolean>
  /** Like `advance`, and ends the lease. */
  finish(host: string, fence: number, changes: FinishedOrder): Promise<boolean>
}
