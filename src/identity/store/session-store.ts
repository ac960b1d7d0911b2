import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { LockName } from '../../storage/store.ts'
import type { Session } from '../sign-in/session.ts'

type StoredSession = Session & { readonly hash: string }

export type SessionStore = {
  /** Returns a person's sessions, the most recently used first, expired ones included. */
  listOfPerson(personId: string): Promise<readonly StoredSession[]>
  /** @param hash the hash of the session's secret */
  insert(session: Session, hash: string): Promise<void>
  /** Gives the session a new secret. Returns false when the session has ended. */
  renew(id: string, hash: string, authenticatedAt: number): Promise<boolean>
  noteUse(id: string, atMicros: number): Promise<void>
  /** Whether the person has this session, which may have expired. */
  has(personId: string, id: string, rowLock?: 'share'): Promise<boolean>
  /** Returns whether the person had this session. */
  delete(personId: string, id: string): Promise<boolean>
  /** Deletes all sessions of a person but one; all where `keptId` is undefined. Returns their ids. */
  deleteOthers(personId: string, keptId: string | undefined): Promise<readonly string[]>
  /** Deletes a person's sessions beyond the `count` that were used most recently. */
  deleteBeyond(personId: string, count: number): Promise<void>
  /** Deletes a bounded number of expired sessions; returns true when there may be more. */
  trim(ends: { readonly createdBefore: number; readonly seenBefore: number }): Promise<boolean>
}

const COLUMNS = [
  'id',
  'hash',
  'person_id',
  'device',
  'created_at',
  'authenticated_at',
  'last_seen_at',
] as const

const TRIM_MAX = 1_000

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function sessionStore(db: Kysely<Schema>, lockName: LockName | undefined): SessionStore {
  const ofPerson = (personId: string) =>
    db
      .selectFrom('sessions')
      .where('person_id', '=', personId)
      .orderBy('last_seen_at', 'desc')
      .orderBy('id')

  return {
    listOfPerson: (personId) => ofPerson(personId).select(COLUMNS).execute(),
    async insert(session, hash) {
      await db
        .insertInto('sessions')
        .values({ ...session, hash })
        .execute()
    },
    async renew(id, hash, authenticatedAt) {
      const row = await db
        .updateTable('sessions')
        .set({ hash, authenticated_at: authenticatedAt })
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },
    async noteUse(id, atMicros) {
      await db
        .updateTable('sessions')
        .set({ last_seen_at: atMicros })
        .where('id', '=', id)
        .where('last_seen_at', '<', atMicros)
        .execute()
    },
    async has(personId, id, rowLock) {
      const row = await db
        .selectFrom('sessions')
        .select('id')
        .where('person_id', '=', personId)
        .where('id', '=', id)
        .$if(lockName !== undefined && rowLock === 'share', (query) => query.forShare())
        .executeTakeFirst()
      return row !== undefined
    },
    async delete(personId, id) {
      const row = await db
        .deleteFrom('sessions')
        .where('person_id', '=', personId)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },
    async deleteOthers(personId, keptId) {
      let query = db.deleteFrom('sessions').where('person_id', '=', personId).returning('id')
      if (keptId !== undefined) query = query.where('id', '!=', keptId)
      return (await query.execute()).map(({ id }) => id)
    },
    async deleteBeyond(personId, count) {
      const kept = ofPerson(personId).select('id').limit(count)
      await db
        .deleteFrom('sessions')
        .where('person_id', '=', personId)
        .where('id', 'not in', kept)
        .execute()
    },
    async trim({ createdBefore, seenBefore }) {
      const expired = db
        .selectFrom('sessions')
        .select('id')
        .where(({ or, eb }) =>
          or([eb('created_at', '<', createdBefore), eb('last_seen_at', '<', seenBefore)]),
        )
        .limit(TRIM_MAX)
      const result = await db.deleteFrom('sessions').where('id', 'in', expired).executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}
