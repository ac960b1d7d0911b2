import type { CertificateOrder, LeasedOrder, PosedChallenge } from './certificate-order.ts'

/** What changes as a lease ends. */
export type FinishedOrder = Pick<CertificateOrder, 'nextAt'> &
  Partial<Omit<CertificateOrder, 'host'>>

/** What the orders of certificates stand at: one row for each host that is to have one. */
export type CertificateOrderStore = {
  find(host: string): Promise<CertificateOrder | undefined>
  /** What is asked of a host at the moment. */
  findChallenge(host: string): Promise<PosedChallenge | undefined>
  /** Adds a host, due at once; nothing when it is there. */
  want(host: string, now: number): Promise<void>
  /** An order that is under way counts no more. False when there was none. */
  remove(host: string): Promise<boolean>
  /** Active hosts that are not here yet, by name, from the one after `after` on. */
  missing(after: string, limit: number): Promise<readonly string[]>
  /** Hosts here that are no active domains, by name, from the one after `after` on. */
  leftOver(after: string, limit: number): Promise<readonly string[]>
  /** Makes a failed order due at once. One that the authority has told to wait goes on waiting. */
  hasten(host: string, now: number): Promise<void>
  /** How many hosts there are whose last order failed. */
  countFailing(): Promise<number>
  hasDue(now: number): Promise<boolean>
  /** Takes up to `limit` that are due and that no node has in work, the oldest first. */
  leaseDue(now: number, leaseUntil: number, limit: number): Promise<readonly LeasedOrder[]>
  /** Makes a lease last longer. False when it was lost. */
  extend(host: string, fence: number, leaseUntil: number): Promise<boolean>
  /** Writes down how far it is. False when the lease was lost: then nothing counts. */
  advance(
    host: string,
    fence: number,
    changes: Partial<Pick<CertificateOrder, 'underWay' | 'challenge'>>,
  ): Promise<boolean>
  /** The same, and ends the lease. */
  finish(host: string, fence: number, changes: FinishedOrder): Promise<boolean>
}
