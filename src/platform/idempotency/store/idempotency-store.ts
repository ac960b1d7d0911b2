import type { Kysely } from 'kysely'
import type { Sealing } from '../../crypto/sealing.ts'
import type { Schema } from '../../database/schema.ts'
import type { WriteBuffer } from '../../database/write-buffer.ts'

/** A request that takes effect once, however often the client sends it. */
export type IdempotentRequest = {
  /** The client's `Idempotency-Key`. */
  readonly key: string
  /** Equal for equal requests, different for different ones. */
  readonly fingerprint: string
  /** Called when the result of an earlier request is returned, and nothing was done. */
  readonly onReplay?: () => void
  /** Encrypts the stored result. */
  readonly sealing?: Sealing
}

/** For an operation whose result has a secret, which is never stored in plain text. */
export type SealedRequest = IdempotentRequest & { readonly sealing: Sealing }

type IdempotencyRecord = {
  readonly workspace_id: string
  readonly idempotency_key: string
  readonly fingerprint: string
  /** What the request created, as JSON; in Base64 where it is sealed. */
  readonly result: string
  /** Microseconds since the epoch. */
  readonly created_at: number
}

export type IdempotencyStore = {
  find(workspaceId: string, key: string): Promise<IdempotencyRecord | undefined>
  /** Makes the transaction run again when a concurrent request has inserted the same key first. */
  insert(record: IdempotencyRecord): Promise<void>
  /** Deletes a bounded number of the oldest records from before `beforeMicros`; true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}

/** Most records deleted at once. */
const TRIM_MAX = 1_000

export function idempotencyStore(db: Kysely<Schema>, writes: WriteBuffer): IdempotencyStore {
  return {
    find: (workspaceId, key) =>
      db
        .selectFrom('idempotency')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('idempotency_key', '=', key)
        .executeTakeFirst(),
    insert: (record) => writes.add(db.insertInto('idempotency').values(record).compile()),
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
