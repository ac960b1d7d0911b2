import type { Kysely } from 'kysely'
import type { Pending } from '../../database/pending-writes.ts'
import type { Schema } from '../../database/schema.ts'

/** A request that a client may send again without its being done again. */
export type IdempotentRequest = {
  /** The client's `Idempotency-Key`. */
  readonly key: string
  /** The same for the same request, different for a different one. */
  readonly fingerprint: string
}

type IdempotencyRecord = {
  readonly workspace_id: string
  readonly idempotency_key: string
  readonly fingerprint: string
  /** What the request made, as JSON. */
  readonly result: string
  /** Microseconds since the epoch. */
  readonly created_at: number
}

export type IdempotencyStore = {
  find(workspaceId: string, key: string): Promise<IdempotencyRecord | undefined>
  /** Has the unit run again when another request with this key was faster. */
  insert(record: IdempotencyRecord): Promise<void>
  /** Forgets the oldest of what is older, a bounded number; true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}

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
