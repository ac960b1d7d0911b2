import { type Kysely, type Selectable, sql, type Updateable } from 'kysely'
import type { DomainStatus } from '../../domains/index.ts'
import { dealInTurn } from '../../platform/database/deal-in-turn.ts'
import type { Schema } from '../../platform/database/schema.ts'
import type { ActiveChallenge, CertificateOrder, LeasedOrder } from '../certificate-order.ts'
import type { CertificateOrderStore } from '../certificate-order-store.ts'

type Row = Selectable<Schema['certificate_orders']>

const ACTIVE = sql.lit<DomainStatus>('active')

export function certificateOrderStore(db: Kysely<Schema>): CertificateOrderStore {
  const orders = () => db.selectFrom('certificate_orders').selectAll()

  /** Writes under a fence; false when another lease has been taken since. */
  async function write(
    host: string,
    fence: number,
    changes: Updateable<Schema['certificate_orders']>,
  ): Promise<boolean> {
    const result = await db
      .updateTable('certificate_orders')
      .set(changes)
      .where('host', '=', host)
      .where('fence', '=', fence)
      .executeTakeFirst()
    return result.numUpdatedRows > 0n
  }

  return {
    async find(host) {
      const row = await orders().where('host', '=', host).executeTakeFirst()
      return row && orderOf(row)
    },

    async findChallenge(host) {
      const row = await orders().where('host', '=', host).executeTakeFirst()
      return row && (challengeOf(row) ?? undefined)
    },

    async want(host, { workspaceId, queue }, now) {
      await db
        .insertInto('certificate_orders')
        .values({ host, workspace_id: workspaceId, queue, attempts: 0, next_at: now, fence: 0 })
        .onConflict((conflict) => conflict.column('host').doNothing())
        .execute()
    },

    async assign(host, workspaceId, now) {
      const update = () =>
        db
          .updateTable('certificate_orders')
          .set({ workspace_id: workspaceId })
          .where('host', '=', host)
      await update().execute()
      await update()
        .set({ queue: 'new', attempts: 0, next_at: now, failure: null })
        .where('queue', '=', 'failing')
        .execute()
    },

    async remove(host) {
      const result = await db
        .deleteFrom('certificate_orders')
        .where('host', '=', host)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },

    async missing(after, limit) {
      const rows = await db
        .selectFrom('domains')
        .select('host')
        .where('status', '=', ACTIVE)
        .where('host', '>', after)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('certificate_orders')
                .select('certificate_orders.host')
                .whereRef('certificate_orders.host', '=', 'domains.host'),
            ),
          ),
        )
        .orderBy('host')
        .limit(limit)
        .execute()
      return rows.map(({ host }) => host)
    },

    async leftOver(after, limit) {
      const rows = await db
        .selectFrom('certificate_orders')
        .select('host')
        .where('host', '>', after)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('domains')
                .select('domains.host')
                .whereRef('domains.host', '=', 'certificate_orders.host')
                .where('domains.status', '=', ACTIVE)
                .where(
                  sql<boolean>`cast(domains.workspace_id as text) = certificate_orders.workspace_id`,
                ),
            ),
          ),
        )
        .orderBy('host')
        .limit(limit)
        .execute()
      return rows.map(({ host }) => host)
    },

    async hasten(host, now) {
      await db
        .updateTable('certificate_orders')
        .set({ next_at: now })
        .where('host', '=', host)
        .where('next_at', '>', now)
        .where('failure', 'is not', null)
        .where('directory', 'is', null)
        .execute()
    },

    async countFailing() {
      const row = await db
        .selectFrom('certificate_orders')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('failure', 'is not', null)
        .executeTakeFirstOrThrow()
      return row.count
    },

    async findDueWorkspaces(queue, from, to) {
      const rows = await db
        .selectFrom('certificate_orders')
        .select('workspace_id')
        .distinct()
        .where('queue', '=', queue)
        .where('next_at', '>=', from)
        .where('next_at', '<=', to)
        .execute()
      return rows.map(({ workspace_id }) => workspace_id)
    },

    leaseDue: (queue, shares, now, leaseUntil, limit) =>
      dealInTurn<Row, LeasedOrder>({
        shares,
        limit,
        find: (workspaceId, count) =>
          orders()
            .where('queue', '=', queue)
            .where('workspace_id', '=', workspaceId)
            .where('next_at', '<=', now)
            .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', now)]))
            .orderBy('next_at')
            .orderBy('host')
            .limit(count)
            .execute(),
        async take(row) {
          const fence = row.fence + 1
          const isOurs = await write(row.host, row.fence, { fence, lease_until: leaseUntil })
          return isOurs ? { ...orderOf(row), fence } : undefined
        },
      }),

    extend: (host, fence, leaseUntil) => write(host, fence, { lease_until: leaseUntil }),
    advance: (host, fence, changes) => write(host, fence, columnsOf(changes)),
    finish: (host, fence, changes) =>
      write(host, fence, { ...columnsOf(changes), lease_until: null }),
  }
}

function orderOf(row: Row): CertificateOrder {
  const { host, workspace_id, queue, attempts, next_at, failure } = row
  const { directory, purpose, private_key, order_url } = row
  const underWay =
    directory === null || purpose === null || private_key === null
      ? null
      : { directory, purpose, sealedKey: private_key, url: order_url }
  return {
    host,
    workspaceId: workspace_id,
    queue,
    underWay,
    challenge: challengeOf(row),
    attempts,
    nextAt: next_at,
    failure,
  }
}

function challengeOf(row: Row): ActiveChallenge | null {
  const { challenge_type: type, challenge_token: token, challenge_answer: answer } = row
  return type === null || token === null || answer === null ? null : { type, token, answer }
}

function columnsOf(
  changes: Partial<Omit<CertificateOrder, 'host' | 'workspaceId'>>,
): Updateable<Schema['certificate_orders']> {
  const { queue, underWay, challenge, attempts, nextAt, failure } = changes
  return {
    ...(queue !== undefined && { queue }),
    ...(underWay !== undefined && {
      directory: underWay?.directory ?? null,
      purpose: underWay?.purpose ?? null,
      private_key: underWay?.sealedKey ?? null,
      order_url: underWay?.url ?? null,
    }),
    ...(challenge !== undefined && {
      challenge_type: challenge?.type ?? null,
      challenge_token: challenge?.token ?? null,
      challenge_answer: challenge?.answer ?? null,
    }),
    ...(attempts !== undefined && { attempts }),
    ...(nextAt !== undefined && { next_at: nextAt }),
    ...(failure !== undefined && { failure }),
  }
}
