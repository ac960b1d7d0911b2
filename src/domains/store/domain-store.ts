import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Page, Run } from '../../platform/http/api/pagination.ts'
import type { Schema } from '../../storage/schema.ts'
import { statement } from '../../storage/statement.ts'
import { StaleRow } from '../../storage/store.ts'
import type { Verdict } from '../dns-judgement.ts'
import type { Domain, DomainStatus } from '../domain.ts'

/** A position in the order of creation; equal times are ordered by identifier. */
export type DomainMark = Pick<Domain, 'created_at' | 'id'>

/** Which domains a list has. */
export type DomainFilter = {
  readonly workspaceId: string
  /** As it is stored. */
  readonly host?: string | undefined
}

/** Consecutive domains of a list in the order of creation. */
export type DomainRun = DomainFilter & {
  readonly limit: number
  readonly descending: boolean
  /**
   * The position after which the run begins, even if its domain was deleted; undefined for the
   * list's start.
   */
  readonly beyond: DomainMark | undefined
}

/** What checks and settings have left about a domain. Instants are microseconds since the epoch. */
export type DomainFacts = {
  readonly id: string
  readonly checked_at: number | null
  readonly next_at: number | null
  readonly missing_since: number | null
  /** The result of the last check; null when there was none. */
  readonly verdict: Verdict | null
  readonly hsts_max_age: number | null
  /** The active claim of another workspace on the same host. */
  readonly other_active_id: string | null
  /** The workspace of which it is the default domain. */
  readonly default_of_id: string | null
}

export type DomainStore = {
  findById(workspaceId: string, id: string): Promise<Domain | undefined>
  /** The workspace's own claim. */
  findByHost(workspaceId: string, host: string): Promise<Domain | undefined>
  /** Returns the active claim on the host, of any workspace. */
  findActive(host: string): Promise<Domain | undefined>
  /** Returns the domain on which new links of the workspace start. */
  findDefault(workspaceId: string): Promise<Domain | undefined>
  /** @param id of a domain of the workspace; undefined for none */
  setDefault(workspaceId: string, id: string | undefined): Promise<void>
  /** Returns false when the workspace has already claimed the host. */
  insert(domain: Domain): Promise<boolean>
  /**
   * Updates everything but the identifiers of the row that was last changed at `readAt`.
   *
   * @throws {StaleRow} when it was changed since
   * @throws {UniqueViolation} when the workspace has already claimed the new host
   */
  update(domain: Domain, readAt: number): Promise<void>
  /**
   * Makes a pending claim active. Returns false when it is no longer pending or no longer on this
   * host.
   */
  activate(id: string, host: string, atMicros: number): Promise<boolean>
  /**
   * Makes an active claim pending. Returns false when it is no longer active or no longer on this
   * host.
   */
  deactivate(id: string, host: string, atMicros: number): Promise<boolean>
  /** Returns the deleted domain. */
  delete(workspaceId: string, id: string): Promise<Domain | undefined>
  /** Newest first. */
  page(filter: DomainFilter, offset: number, limit: number): Promise<Page<Domain>>
  run(run: DomainRun): Promise<Run<Domain, DomainMark>>
  count(filter: DomainFilter): Promise<number>
  /** Returns them in any order. */
  listFacts(ids: readonly string[]): Promise<readonly DomainFacts[]>
  /** Counts the domains by status. Reads all of them. */
  countByStatus(): Promise<readonly { readonly status: DomainStatus; readonly count: number }[]>
  /** All pending claims on a host, oldest first. */
  pendingOn(host: string): Promise<readonly Domain[]>
  /** Returns pending claims ordered by identifier, after `afterId`. */
  pendingAfter(afterId: string, limit: number): Promise<readonly Domain[]>
}

/**
 * Literals, not parameters: with a parameter SQLite recompiles the statement at each run to decide
 * whether it may use the partial index of active or of pending domains.
 */
const ACTIVE = sql.lit<DomainStatus>('active')
const PENDING = sql.lit<DomainStatus>('pending')

const findOwn = statement((db, owner: { workspaceId: string; host: string }) =>
  db
    .selectFrom('domains')
    .selectAll()
    .where('workspace_id', '=', owner.workspaceId)
    .where('host', '=', owner.host),
)

const findActive = statement((db, { host }: { host: string }) =>
  db.selectFrom('domains').selectAll().where('host', '=', host).where('status', '=', ACTIVE),
)

export function domainStore(db: Kysely<Schema>): DomainStore {
  return { ...domainLookUps(db), ...domainWrites(db), ...domainLists(db) }
}

function domainLookUps(
  db: Kysely<Schema>,
): Pick<DomainStore, 'findById' | 'findByHost' | 'findActive' | 'findDefault'> {
  return {
    findById: (workspaceId, id) =>
      db
        .selectFrom('domains')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst(),

    findByHost: async (workspaceId, host) => (await findOwn(db, { workspaceId, host })).rows[0],

    findActive: async (host) => (await findActive(db, { host })).rows[0],

    findDefault: (workspaceId) =>
      db
        .selectFrom('default_domains')
        .innerJoin('domains', 'domains.id', 'default_domains.domain_id')
        .selectAll('domains')
        .where('default_domains.workspace_id', '=', workspaceId)
        .executeTakeFirst(),
  }
}

function domainWrites(
  db: Kysely<Schema>,
): Pick<DomainStore, 'insert' | 'update' | 'setDefault' | 'activate' | 'deactivate' | 'delete'> {
  return {
    async insert(domain) {
      const inserted = await db
        .insertInto('domains')
        .values(domain)
        .onConflict((conflict) => conflict.columns(['workspace_id', 'host']).doNothing())
        .returning('id')
        .executeTakeFirst()
      return inserted !== undefined
    },

    async update(domain, readAt) {
      const { id, workspace_id, created_at, ...values } = domain
      const result = await db
        .updateTable('domains')
        .set(values)
        .where('id', '=', id)
        .where('updated_at', '=', readAt)
        .executeTakeFirst()
      if (result.numUpdatedRows === 0n) throw new StaleRow()
    },

    async setDefault(workspaceId, id) {
      if (id === undefined) {
        await db.deleteFrom('default_domains').where('workspace_id', '=', workspaceId).execute()
        return
      }
      await db
        .insertInto('default_domains')
        .values({ workspace_id: workspaceId, domain_id: id })
        .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ domain_id: id }))
        .execute()
    },

    activate: (id, host, atMicros) =>
      changeStatus(db, { id, host, from: PENDING, to: ACTIVE, atMicros }),

    deactivate: (id, host, atMicros) =>
      changeStatus(db, { id, host, from: ACTIVE, to: PENDING, atMicros }),

    delete: (workspaceId, id) =>
      db
        .deleteFrom('domains')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst(),
  }
}

async function changeStatus(
  db: Kysely<Schema>,
  change: {
    id: string
    host: string
    from: RawBuilder<DomainStatus>
    to: RawBuilder<DomainStatus>
    atMicros: number
  },
): Promise<boolean> {
  const result = await db
    .updateTable('domains')
    .set((eb) => ({
      status: change.to,
      updated_at: eb
        .case()
        .when('updated_at', '>=', change.atMicros)
        .then(eb('updated_at', '+', 1))
        .else(change.atMicros)
        .end(),
    }))
    .where('id', '=', change.id)
    .where('host', '=', change.host)
    .where('status', '=', change.from)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

function domainLists(
  db: Kysely<Schema>,
): Pick<
  DomainStore,
  'page' | 'count' | 'run' | 'listFacts' | 'countByStatus' | 'pendingOn' | 'pendingAfter'
> {
  const domains = () => db.selectFrom('domains').selectAll()
  const listed = ({ workspaceId, host }: DomainFilter) =>
    domains()
      .where('workspace_id', '=', workspaceId)
      .$if(host !== undefined, (qb) => qb.where('host', '=', host ?? ''))
  return {
    async page(filter, offset, limit) {
      const items = await listed(filter)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      return { items, total: await countDomains(db, filter) }
    },

    count: (filter) => countDomains(db, filter),

    async run({ limit, descending, beyond, ...filter }) {
      const [direction, side] = descending ? (['desc', '<'] as const) : (['asc', '>'] as const)
      const rows = await listed(filter)
        .$if(beyond !== undefined, (qb) =>
          qb.where((eb) =>
            eb(
              eb.refTuple('created_at', 'id'),
              side,
              eb.tuple(beyond?.created_at ?? 0, beyond?.id ?? ''),
            ),
          ),
        )
        .orderBy('created_at', direction)
        .orderBy('id', direction)
        .limit(limit + 1)
        .execute()
      const items = rows.slice(0, limit)
      const last = rows.length > limit ? items.at(-1) : undefined
      return { items, rest: last && { created_at: last.created_at, id: last.id } }
    },

    listFacts: (ids) =>
      db
        .selectFrom('domains')
        .leftJoin('domain_checks as checks', 'checks.domain_id', 'domains.id')
        .leftJoin('domain_hsts as hsts', 'hsts.domain_id', 'domains.id')
        .leftJoin('default_domains as preset', 'preset.domain_id', 'domains.id')
        .leftJoin('domains as other', (join) =>
          join
            .onRef('other.host', '=', 'domains.host')
            .on('other.status', '=', ACTIVE)
            .onRef('other.id', '<>', 'domains.id'),
        )
        .select([
          'domains.id',
          'checks.checked_at',
          'checks.next_at',
          'checks.missing_since',
          'checks.verdict',
          'hsts.max_age as hsts_max_age',
          'other.id as other_active_id',
          'preset.workspace_id as default_of_id',
        ])
        .where('domains.id', 'in', ids)
        .execute(),

    countByStatus: () =>
      db
        .selectFrom('domains')
        .select(['status', (eb) => eb.fn.countAll<number>().as('count')])
        .groupBy('status')
        .execute(),

    pendingOn: (host) =>
      domains().where('host', '=', host).where('status', '=', PENDING).orderBy('id').execute(),

    pendingAfter: (afterId, limit) =>
      domains()
        .where('status', '=', PENDING)
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute(),
  }
}

async function countDomains(
  db: Kysely<Schema>,
  { workspaceId, host }: DomainFilter,
): Promise<number> {
  const counted = await db
    .selectFrom('domains')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('workspace_id', '=', workspaceId)
    .$if(host !== undefined, (qb) => qb.where('host', '=', host ?? ''))
    .executeTakeFirstOrThrow()
  return counted.total
}

/**
 * The HSTS settings of domains (RFC 6797): one row for each claim that sends the header, deleted
 * with the claim.
 */
export type HstsStore = {
  /** Returns the max-age in seconds, or undefined when the domain sends no HSTS header. */
  find(domainId: string): Promise<number | undefined>
  save(domainId: string, maxAgeSeconds: number): Promise<void>
  remove(domainId: string): Promise<void>
}

export function hstsStore(db: Kysely<Schema>): HstsStore {
  return {
    async find(domainId) {
      const row = await db
        .selectFrom('domain_hsts')
        .select('max_age')
        .where('domain_id', '=', domainId)
        .executeTakeFirst()
      return row?.max_age
    },
    async save(domainId, maxAgeSeconds) {
      await db
        .insertInto('domain_hsts')
        .values({ domain_id: domainId, max_age: maxAgeSeconds })
        .onConflict((conflict) =>
          conflict.column('domain_id').doUpdateSet({ max_age: maxAgeSeconds }),
        )
        .execute()
    },
    async remove(domainId) {
      await db.deleteFrom('domain_hsts').where('domain_id', '=', domainId).execute()
    },
  }
}
