import type { CheckSchedule } from './check-schedule.ts'
import type { Domain } from './domain.ts'

/** A domain that one node may check, until its lease ends. */
export type LeasedCheck = {
  readonly domain: Domain
  /** Whose turn it was; empty for a claim that a node of an earlier release has made. */
  readonly workspaceId: string
  readonly schedule: CheckSchedule
  /** Rises with every lease: results under an older one are refused. */
  readonly fence: number
}

/** When a domain was checked, and will be. Microseconds since the epoch. */
type CheckTimes = {
  readonly checked_at: number | null
  readonly next_at: number | null
  /** When somebody last asked for a check. */
  readonly demanded_at: number | null
}

/** The schedule of checks: one row for each claim, which goes with it. */
export type DomainCheckStore = {
  insert(claim: Pick<Domain, 'id' | 'workspace_id'>, schedule: CheckSchedule): Promise<void>
  find(domainId: string): Promise<CheckTimes | undefined>
  /** The workspaces of checks that became due from one instant to another, leased or not. */
  findDueWorkspaces(from: number, to: number): Promise<readonly string[]>
  /**
   * Leases up to `limit` checks that are due and not leased: one of each workspace in turn, those of a
   * workspace in the order in which they became due.
   *
   * @param shares how many checks each workspace may get, in the order of their turns
   */
  leaseDue(
    shares: ReadonlyMap<string, number>,
    now: number,
    leaseUntil: number,
    limit: number,
  ): Promise<{ readonly leases: readonly LeasedCheck[]; readonly idle: readonly string[] }>
  /**
   * Takes one check, due or not, from whichever node has it under way, too: its result counts no
   * more. Undefined where another node was faster.
   */
  lease(domainId: string, leaseUntil: number): Promise<LeasedCheck | undefined>
  /** Writes down that somebody asked for a check. */
  noteDemand(domainId: string, now: number): Promise<void>
  /** Ends a lease. False when it was lost: then nothing of the check may count. */
  finish(
    domainId: string,
    fence: number,
    schedule: CheckSchedule,
    checkedAt: number,
  ): Promise<boolean>
  /** Gives a lease back without a result. */
  release(domainId: string, fence: number): Promise<void>
  /** Gives a claim a new schedule; a check that is under way counts no more. */
  restart(domainId: string, schedule: CheckSchedule): Promise<void>
  /**
   * Makes the pending claims on a host due at once. A check that is under way counts no more: it may
   * have looked before there was a reason to.
   */
  makeDue(host: string, now: number): Promise<void>
}
