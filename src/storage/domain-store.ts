import type { Kysely } from 'kysely'
import type { DomainStore } from '../domain/domains/domain-store.ts'
import { StaleRow } from '../domain/store.ts'
import type { Schema } from './schema.ts'

export function domainStore(db: Kysely<Schema>): DomainStore {
  const domains = () => db.selectFrom('domains').selectAll()

  return {
    findById: (workspaceId, id) =>
      domains().where('workspace_id', '=', workspaceId).where('id', '=', id).executeTakeFirst(),

    findByHost: (workspaceId, host) =>
      domains().where('workspace_id', '=', workspaceId).where('host', '=', host).executeTakeFirst(),

    findActive: (host) =>
      domains().where('host', '=', host).where('status', '=', 'active').executeTakeFirst(),

    async servedAmong(workspaceId, hosts) {
      const rows = await db
        .selectFrom('domains')
        .select('host')
        .distinct()
        .where('host', 'in', hosts)
        .where((eb) => eb.or([eb('status', '=', 'active'), eb('workspace_id', '=', workspaceId)]))
        .execute()
      return rows.map((row) => row.host)
    },

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

    async activate(id, atMicros) {
      const result = await db
        .updateTable('domains')
        .set((eb) => ({
          status: 'active',
          updated_at: eb
            .case()
            .when('updated_at', '>=', atMicros)
            .then(eb('updated_at', '+', 1))
            .else(atMicros)
            .end(),
        }))
        .where('id', '=', id)
        .where('status', '=', 'pending')
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    async delete(workspaceId, id) {
      const result = await db
        .deleteFrom('domains')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },

    async page(workspaceId, offset, limit) {
      const counted = await db
        .selectFrom('domains')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      const items = await domains()
        .where('workspace_id', '=', workspaceId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      return { items, total: counted.total }
    },

    pendingAfter: (afterId, limit) =>
      domains()
        .where('status', '=', 'pending')
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute(),
  }
}
