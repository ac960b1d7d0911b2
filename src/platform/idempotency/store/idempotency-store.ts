import type { Kysely } from 'kysely'
import type { Pending } from '../../database/pending-writes.ts'
import type { Schema } from '../../database/schema.ts'
import type { IdempotencyStore } from '../idempotency-store.ts'

/** Records forgotten at once. */
const TRIM_MAX = 1_000

export function idempotencyStore(db: Kysely<Schema>, pending: Pending): IdempotencyStore {
  return {
    find: (workspaceId, key) =>
      db
        .selectFrom('idempotency')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('idempotency_key', '=', key)
        .executeTakeFirst(),
    insert: (record) => pending.add(db.insertInto('idempotency').values(record).compile()),
    async trim(beforeMicros) {
      const old = db
        .selectFrom('idempotency')
        .select(['workspace_id', 'idempotency_key'])
        .where('created_at', '<', beforeMicros)
        .orderBy('created_at')
        .limit(TRIM_MAX)
      const result = await db
        .deleteFrom('idempotency')
        .where((eb) =>
          eb(
            eb.refTuple('workspace_id', 'idempotency_key'),
            'in',
            old.$asTuple('workspace_id', 'idempotency_key'),
          ),
        )
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}
