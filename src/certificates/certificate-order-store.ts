import type {
  ActiveChallenge,
  CertificateOrder,
  LeasedOrder,
  OrderQueue,
} from './certificate-order.ts'

/** What changes as a lease ends. */
export type FinishedOrder = Pick<CertificateOrder, 'nextAt'> &
  Partial<Omit<CertificateOrder, 'host' | 'workspaceId'>>

/** What the orders of certificates stand at: one row for each host that is to have one. */
export type CertificateOrderStore = {
  find(host: string): Promise<CertificateOrder | undefined>
  /** What is asked of a host at the moment. */
  findChallenge(host: string): Promise<ActiveChallenge | undefined>
  /** Adds a host, due at once; nothing when it is there. */
  want(
    host: string,
    place: Pick<CertificateOrder, 'workspaceId' | 'queue'>,
    now: number,
  ): Promise<void>
  /**
   * Gives a host to the workspace in which it is active by now. What failed in another one is forgotten
   * and due at once; an order under way goes on.
   */
  assign(host: string, workspaceId: string, now: number): Promise<void>
  /** An order that is under way counts no more. False when there was none. */
  remove(host: string): Promise<boolean>
  /** Active hosts that are not here yet, by name, from the one after `after` on. */
  missing(after: string, limit: number): Promise<readonly string[]>
  /** Hosts here that are not active in the workspace they are given to, from the one after `after` on. */
  leftOver(after: string, limit: number): Promise<readonly string[]>
  /** Makes a failed order due at once. One that the authority has told to wait goes on waiting. */
  hasten(host: string, now: number): Promise<void>
  /** How many hosts there are whose last order failed. */
  countFailing(): Promise<number>
  /** The workspaces of hosts of a queue that became due from one instant to another, leased or not. */
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
  /** Makes a lease last longer. False when it was lost. */
  extend(host: string, fence: number, leaseUntil: number): Promise<boolean>
  /** Writes down how far it is. False when the lease was lost: then nothing counts. */
  advance(
    host: string,
    fence: number,
    changes: Partial<Pick<CertificateOrder, 'underWay' | 'challenge' | 'queue'>>,
  ): Promise<boolean>
  /** The same, and ends the lease. */
  finish(host: string, fence: number, changes: FinishedOrder): Promise<boolean>
}
