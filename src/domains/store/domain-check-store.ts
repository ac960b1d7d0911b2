import { type Kysely, sql } from 'kysely'
import { leaseRoundRobin } from '../../platform/work/leases.ts'
import type { Schema } from '../../storage/schema.ts'
import { type CheckSchedule, decideCheck } from '../check-schedule.ts'
import type { Verdict } from '../dns-judgement.ts'
import type { Domain, DomainStatus } from '../domain.ts'

/** A domain that one node has leased for a check. */
export type LeasedCheck = {
  readonly domain: Domain
  /**
   * The workspace that the lease counts for; empty for a claim inserted by a node of an earlier
   * release.
   */
  readonly workspaceId: string
  readonly schedule: CheckSchedule
  /** Incremented by each lease: results under an older fence are refused. */
  readonly fence: number
}

/** The times of a domain's last and next check, in microseconds since the epoch. */
type CheckTimes = {
  readonly checked_at: number | null
  readonly next_at: number | null
  /** When a check was last requested. */
  readonly demanded_at: number | null
  /** When the proof of an active domain was first missing; null while it is present. */
  readonly missing_since: number | null
}

/** The check schedules: one row for each claim, deleted with the claim. */
export type DomainCheckStore = {
  insert(claim: Pick<Domain, 'id' | 'workspace_id'>, schedule: CheckSchedule): Promise<void>
  find(domainId: string): Promise<CheckTimes | undefined>
  /**
   * Returns the workspaces of checks that became due between two instants, both included, leased or
   * not.
   */
  findDueWorkspaces(from: number, to: number): Promise<readonly string[]>
  /**
   * Leases up to `limit` checks that are due and not leased: round robin across workspaces, and
   * within a workspace in the order in which they became due.
   *
   * @param shares the maximum number of checks for each workspace, in round-robin order
   */
  leaseDue(
    shares: ReadonlyMap<string, number>,
    now: number,
    leaseUntil: number,
    limit: number,
  ): Promise<{ readonly leases: readonly LeasedCheck[]; readonly idle: readonly string[] }>
  /**
   * Leases one check, due or not, even if another node has leased it; that node's result is then
   * refused. Returns undefined when another node leased it first.
   */
  lease(domainId: string, leaseUntil: number): Promise<LeasedCheck | undefined>
  /** Records that a check was requested. */
  noteDemand(domainId: string, now: number): Promise<void>
  /**
   * Ends a lease and stores the check and the new schedule. Returns false when the lease was lost: the
   * check's result must then be discarded.
   */
  finish(
    lease: Pick<LeasedCheck, 'domain' | 'fence'>,
    schedule: CheckSchedule,
    check: { readonly at: number; readonly verdict: Verdict },
  ): Promise<boolean>
  /** Ends a lease without a result, as if it had not been. */
  release(lease: LeasedCheck): Promise<void>
  /** Gives a claim a new schedule, forgets the verdict, and invalidates a running check. */
  restart(domainId: string, schedule: CheckSchedule): Promise<void>
  /**
   * Makes the pending claims on a host due now and invalidates running checks, which may have read
   * DNS before the event that makes the claims due.
   */
  makeDue(host: string, now: number): Promise<void>
}

const PENDING = sql.lit<DomainStatus>('pending')

export function domainCheckStore(db: Kysely<Schema>): DomainCheckStore {
  return { ...checkSchedules(db), ...checkLeases(db) }
}

function checkSchedules(
  db: Kysely<Schema>,
): Pick<
  DomainCheckStore,
  'insert' | 'find' | 'findDueWorkspaces' | 'noteDemand' | 'restart' | 'makeDue'
> {
  return {
    async insert(claim, schedule) {
      await db
        .insertInto('domain_checks')
        .values({
          domain_id: claim.id,
          workspace_id: claim.workspace_id,
          ...schedule,
          checked_at: null,
          demanded_at: null,
          verdict: null,
          fence: 0,
          lease_until: null,
        })
        .onConflict((conflict) => conflict.column('domain_id').doNothing())
        .execute()
    },

    find: (domainId) =>
      db
        .selectFrom('domain_checks')
        .select(['checked_at', 'next_at', 'demanded_at', 'missing_since'])
        .where('domain_id', '=', domainId)
        .executeTakeFirst(),

    async findDueWorkspaces(from, to) {
      const rows = await db
        .selectFrom('domain_checks')
        .select('workspace_id')
        .distinct()
        .where('next_at', '>=', from)
        .where('next_at', '<=', to)
        .execute()
      return rows.map(({ workspace_id }) => workspace_id)
    },

    async noteDemand(domainId, now) {
      await db
        .updateTable('domain_checks')
        .set({ demanded_at: now })
        .where('domain_id', '=', domainId)
        .execute()
    },

    async restart(domainId, schedule) {
      await db
        .updateTable('domain_checks')
        .set((eb) => ({
          ...schedule,
          verdict: null,
          fence: eb('fence', '+', 1),
          lease_until: null,
        }))
        .where('domain_id', '=', domainId)
        .execute()
    },

    async makeDue(host, now) {
      await db
        .updateTable('domain_checks')
        .set((eb) => ({ next_at: now, fence: eb('fence', '+', 1), lease_until: null }))
        .where('domain_id', 'in', (eb) =>
          eb
            .selectFrom('domains')
            .select('id')
            .where('host', '=', host)
            .where('status', '=', PENDING),
        )
        .execute()
    },
  }
}

function checkLeases(
  db: Kysely<Schema>,
): Pick<DomainCheckStore, 'leaseDue' | 'lease' | 'finish' | 'release'> {
  return {
    leaseDue: (shares, now, leaseUntil, limit) =>
      leaseRoundRobin({
        shares,
        limit,
        find: (workspaceId, count) =>
          selectChecks(db)
            .where('checks.workspace_id', '=', workspaceId)
            .where('checks.next_at', '<=', now)
            .where((eb) =>
              eb.or([eb('checks.lease_until', 'is', null), eb('checks.lease_until', '<=', now)]),
            )
            .orderBy('checks.next_at')
            .limit(count)
            .execute(),
        take: (row) => leaseRow(db, row, leaseUntil),
      }),

    async lease(domainId, leaseUntil) {
      const row = await selectChecks(db).where('checks.domain_id', '=', domainId).executeTakeFirst()
      return row && leaseRow(db, row, leaseUntil)
    },

    async finish({ domain, fence }, schedule, { at, verdict }) {
      const result = await db
        .updateTable('domain_checks')
        .set({ ...schedule, checked_at: at, verdict, lease_until: null })
        .where('domain_id', '=', domain.id)
        .where('fence', '=', fence)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    async release({ domain, fence, schedule }) {
      await db
        .updateTable('domain_checks')
        .set({ ...schedule, lease_until: null })
        .where('domain_id', '=', domain.id)
        .where('fence', '=', fence)
        .execute()
    },
  }
}

/** Selects check schedules joined with their claims. */
const selectChecks = (db: Kysely<Schema>) =>
  db
    .selectFrom('domain_checks as checks')
    .innerJoin('domains', 'domains.id', 'checks.domain_id')
    .selectAll('domains')
    .select([
      'checks.workspace_id as lease_workspace_id',
      'checks.since',
      'checks.attempts',
      'checks.next_at',
      'checks.missing_since',
      'checks.fence',
    ])

/** Leases a row as it was read; returns undefined when another node leased it first. */
async function leaseRow(
  db: Kysely<Schema>,
  row: Awaited<ReturnType<ReturnType<typeof selectChecks>['executeTakeFirstOrThrow']>>,
  leaseUntil: number,
): Promise<LeasedCheck | undefined> {
  const {
    since,
    attempts,
    next_at,
    missing_since,
    fence: readFence,
    lease_workspace_id,
    ...domain
  } = row
  const fence = readFence + 1
  const schedule = { since, attempts, next_at, missing_since }
  // If the check takes its node down, the next one waits as after a check without an answer.
  const unanswered = decideCheck(domain.status, schedule, 'unknown', leaseUntil).schedule
  const result = await db
    .updateTable('domain_checks')
    .set({ ...unanswered, fence, lease_until: leaseUntil })
    .where('domain_id', '=', domain.id)
    .where('fence', '=', readFence)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) return undefined
  return { domain, workspaceId: lease_workspace_id, schedule, fence }
}
