import type { Kysely } from 'kysely'
import type { IdempotencyStore } from '../domain/idempotency/idempotency-store.ts'
import { StaleRow } from '../domain/store.ts'
import type { Schema } from './schema.ts'

export function idempotencyStore(db: Kysely<Schema>): IdempotencyStore {
  return {
    find: (workspaceId, key) =>
      db
        .selectFrom('idempotency')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('idempotency_key', '=', key)
        .executeTakeFirst(),
    async insert(record) {
      const inserted = await db
        .insertInto('idempotency')
        .values(record)
        .onConflict((conflict) => conflict.doNothing())
        .returning('idempotency_key')
        .executeTakeFirst()
      if (inserted === undefined) throw new StaleRow()
    },
    async trim(beforeMicros) {
      await db.deleteFrom('idempotency').where('created_at', '<', beforeMicros).execute()
    },
  }
}
