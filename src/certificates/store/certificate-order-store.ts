import { type Kysely, type Selectable, sql, type Updateable } from 'kysely'
import type { DomainStatus } from '../../domains/index.ts'
import { leaseRoundRobin } from '../../platform/work/leases.ts'
import type { Schema } from '../../storage/schema.ts'
import type {
  ActiveChallenge,
  CertificateOrder,
  LeasedOrder,
  OrderQueue,
} from '../certificate-order.ts'

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

const ACTIVE = sql.lit<DomainStatus>('active')

export function certificateOrderStore(db: Kysely<Schema>): CertificateOrderStore {
  return {
    async find(host) {
      const row = await findRow(db, host)
      return row && orderOf(row)
    },
    async findChallenge(host) {
      const row = await findRow(db, host)
      return row && (challengeOf(row) ?? undefined)
    },
    async add(host, { workspaceId, queue }, now) {
      await db
        .insertInto('certificate_orders')
        .values({ host, workspace_id: workspaceId, queue, attempts: 0, next_at: now, fence: 0 })
        .onConflict((conflict) => conflict.column('host').doNothing())
        .execute()
    },
    assign: (host, workspaceId, now) => assign(db, host, workspaceId, now),
    async remove(host) {
      const result = await db
        .deleteFrom('certificate_orders')
        .where('host', '=', host)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    findMissing: (after, limit) => findMissing(db, after, limit),
    findOutdated: (after, limit) => findOutdated(db, after, limit),
    async makeDue(host, now) {
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
    findDueWorkspaces: (queue, from, to) => findDueWorkspaces(db, queue, from, to),
    leaseDue: (queue, shares, now, leaseUntil, limit) =>
      leaseRoundRobin<OrderRow, LeasedOrder>({
        shares,
        limit,
        find: (workspaceId, count) => findDue(db, { queue, workspaceId, now, count }),
        take: (row) => lease(db, row, leaseUntil),
      }),
    extend: (host, fence, leaseUntil) => update(db, host, fence, { lease_until: leaseUntil }),
    advance: (host, fence, changes) => update(db, host, fence, columnsOf(changes)),
    finish: (host, fence, changes) =>
      update(db, host, fence, { ...columnsOf(changes), lease_until: null }),
  }
}

function findRow(db: Kysely<Schema>, host: string): Promise<OrderRow | undefined> {
  return db.selectFrom('certificate_orders').selectAll().where('host', '=', host).executeTakeFirst()
}

/** False when the fence has changed: another node has leased the row since. */
async function update(
  db: Kysely<Schema>,
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

async function assign(
  db: Kysely<Schema>,
  host: string,
  workspaceId: string,
  now: number,
): Promise<void> {
  const updateHost = () =>
    db.updateTable('certificate_orders').set({ workspace_id: workspaceId }).where('host', '=', host)
  await updateHost().execute()
  await updateHost()
    .set({ queue: 'new', attempts: 0, next_at: now, failure: null })
    .where('queue', '=', 'failing')
    .execute()
}

async function findMissing(
  db: Kysely<Schema>,
  after: string,
  limit: number,
): Promise<readonly string[]> {
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
}

async function findOutdated(
  db: Kysely<Schema>,
  after: string,
  limit: number,
): Promise<readonly string[]> {
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
}

async function findDueWorkspaces(
  db: Kysely<Schema>,
  queue: OrderQueue,
  from: number,
  to: number,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('certificate_orders')
    .select('workspace_id')
    .distinct()
    .where('queue', '=', queue)
    .where('next_at', '>=', from)
    .where('next_at', '<=', to)
    .execute()
  return rows.map(({ workspace_id }) => workspace_id)
}

function findDue(
  db: Kysely<Schema>,
  of: { queue: OrderQueue; workspaceId: string; now: number; count: number },
): Promise<readonly OrderRow[]> {
  return db
    .selectFrom('certificate_orders')
    .selectAll()
    .where('queue', '=', of.queue)
    .where('workspace_id', '=', of.workspaceId)
    .where('next_at', '<=', of.now)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', of.now)]))
    .orderBy('next_at')
    .orderBy('host')
    .limit(of.count)
    .execute()
}

async function lease(
  db: Kysely<Schema>,
  row: OrderRow,
  leaseUntil: number,
): Promise<LeasedOrder | undefined> {
  const fence = row.fence + 1
  const isLeased = await update(db, row.host, row.fence, { fence, lease_until: leaseUntil })
  return isLeased ? { ...orderOf(row), fence } : undefined
}

type OrderRow = Selectable<Schema['certificate_orders']>

/** Converts a row of the table `certificate_orders`. */
function orderOf(row: OrderRow): CertificateOrder {
  const { host, workspace_id, queue, attempts, next_at, failure } = row
  const { directory, purpose, private_key, order_url } = row
  const ongoing =
    directory === null || purpose === null || private_key === null
      ? null
      : { directory, purpose, sealedKey: private_key, url: order_url }
  return {
    host,
    workspaceId: workspace_id,
    queue,
    ongoing,
    challenge: challengeOf(row),
    attempts,
    nextAt: next_at,
    failure,
  }
}

function challengeOf(row: OrderRow): ActiveChallenge | null {
  const { challenge_type: type, challenge_token: token, challenge_answer: keyAuthorization } = row
  return type === null || token === null || keyAuthorization === null
    ? null
    : { type, token, keyAuthorization }
}

/** Returns the columns for the fields that are present. */
function columnsOf(
  changes: Partial<Omit<CertificateOrder, 'host' | 'workspaceId'>>,
): Updateable<Schema['certificate_orders']> {
  const { queue, ongoing, challenge, attempts, nextAt, failure } = changes
  return {
    ...(queue !== undefined && { queue }),
    ...(ongoing !== undefined && {
      directory: ongoing?.directory ?? null,
      purpose: ongoing?.purpose ?? null,
      private_key: ongoing?.sealedKey ?? null,
      order_url: ongoing?.url ?? null,
    }),
    ...(challenge !== undefined && {
      challenge_type: challenge?.type ?? null,
      challenge_token: challenge?.token ?? null,
      challenge_answer: challenge?.keyAuthorization ?? null,
    }),
    ...(attempts !== undefined && { attempts }),
    ...(nextAt !== undefined && { next_at: nextAt }),
    ...(failure !== undefined && { failure }),
  }
}
