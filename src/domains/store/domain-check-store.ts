import { type Kysely, sql } from 'kysely'
import { dealInTurn } from '../../platform/database/deal-in-turn.ts'
import type { Schema } from '../../platform/database/schema.ts'
import type { DomainStatus } from '../domain.ts'
import type { DomainCheckStore, LeasedCheck } from '../domain-check-store.ts'

const PENDING = sql.lit<DomainStatus>('pending')

export function domainCheckStore(db: Kysely<Schema>): DomainCheckStore {
  /** The schedules, each with its claim. */
  const checks = () =>
    db
      .selectFrom('domain_checks as checks')
      .innerJoin('domains', 'domains.id', 'checks.domain_id')
      .selectAll('domains')
      .select([
        'checks.workspace_id as turn_of',
        'checks.since',
        'checks.attempts',
        'checks.next_at',
        'checks.missing_since',
        'checks.fence',
      ])

  /** Takes a row that was read a moment ago; undefined when another node was faster. */
  async function take(
    row: Awaited<ReturnType<ReturnType<typeof checks>['executeTakeFirstOrThrow']>>,
    leaseUntil: number,
  ): Promise<LeasedCheck | undefined> {
    const { since, attempts, next_at, missing_since, fence: readFence, turn_of, ...domain } = row
    const fence = readFence + 1
    const result = await db
      .updateTable('domain_checks')
      .set({ fence, lease_until: leaseUntil })
      .where('domain_id', '=', domain.id)
      .where('fence', '=', readFence)
      .executeTakeFirst()
    if (result.numUpdatedRows === 0n) return undefined
    const schedule = { since, attempts, next_at, missing_since }
    return { domain, workspaceId: turn_of, schedule, fence }
  }

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
          fence: 0,
          lease_until: null,
        })
        .onConflict((conflict) => conflict.column('domain_id').doNothing())
        .execute()
    },

    find: (domainId) =>
      db
        .selectFrom('domain_checks')
        .select(['checked_at', 'next_at', 'demanded_at'])
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

    leaseDue: (shares, now, leaseUntil, limit) =>
      dealInTurn({
        shares,
        limit,
        find: (workspaceId, count) =>
          checks()
            .where('checks.workspace_id', '=', workspaceId)
            .where('checks.next_at', '<=', now)
            .where((eb) =>
              eb.or([eb('checks.lease_until', 'is', null), eb('checks.lease_until', '<=', now)]),
            )
            .orderBy('checks.next_at')
            .limit(count)
            .execute(),
        take: (row) => take(row, leaseUntil),
      }),

    async lease(domainId, leaseUntil) {
      const row = await checks().where('checks.domain_id', '=', domainId).executeTakeFirst()
      return row && take(row, leaseUntil)
    },

    async noteDemand(domainId, now) {
      await db
        .updateTable('domain_checks')
        .set({ demanded_at: now })
        .where('domain_id', '=', domainId)
        .execute()
    },

    async finish(domainId, fence, schedule, checkedAt) {
      const result = await db
        .updateTable('domain_checks')
        .set({ ...schedule, checked_at: checkedAt, lease_until: null })
        .where('domain_id', '=', domainId)
        .where('fence', '=', fence)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    async release(domainId, fence) {
      await db
        .updateTable('domain_checks')
        .set({ lease_until: null })
        .where('domain_id', '=', domainId)
        .where('fence', '=', fence)
        .execute()
    },

    async restart(domainId, schedule) {
      await db
        .updateTable('domain_checks')
        .set((eb) => ({ ...schedule, fence: eb('fence', '+', 1), lease_until: null }))
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
