import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { statement } from '../../storage/statement.ts'
import type { LockName } from '../../storage/store.ts'
import { isScope, type Scope } from '../permissions.ts'

export type Token = {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  /** The person who created it; null for a token of the command line, or of another token. */
  readonly created_by: string | null
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly revoked_at: number | null
}

/** A token with the name of the person who created it; null where there is none. */
export type NamedToken = { readonly token: Token; readonly creatorName: string | null }

export type TokenStore = {
  /**
   * Finds no token of a workspace that was deleted.
   *
   * @param hash the hash of the token's secret
   */
  findByHash(hash: string): Promise<Token | undefined>
  findById(id: string, rowLock?: 'share'): Promise<Token | undefined>
  insert(token: Token, hash: string): Promise<void>
  /** Returns the tokens of one workspace or of all, oldest first. */
  list(workspaceId: string | undefined): Promise<readonly NamedToken[]>
  /**
   * Returns the token that was revoked; undefined when there is none, or it was revoked before.
   *
   * @param workspaceId undefined for a token of any workspace
   */
  revoke(workspaceId: string | undefined, id: string, atMicros: number): Promise<Token | undefined>
  /** Revokes all tokens of a workspace, and returns the identifiers of those that were not revoked before. */
  revokeAll(workspaceId: string, atMicros: number): Promise<readonly string[]>
  /** Forgets who created the tokens of a person; they go on working. */
  forgetCreator(personId: string): Promise<void>
  noteUse(id: string, atMicros: number): Promise<void>
}

const COLUMNS = [
  'id',
  'workspace_id',
  'name',
  'scopes',
  'created_at',
  'created_by',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const

const findByHash = statement((db, { hash }: { hash: string }) =>
  db
    .selectFrom('tokens')
    .innerJoin('workspaces', 'workspaces.id', 'tokens.workspace_id')
    .select(COLUMNS.map((column) => `tokens.${column}` as const))
    .where('hash', '=', hash)
    .where('workspaces.deleted_at', 'is', null),
)

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function tokenStore(db: Kysely<Schema>, lockName: LockName | undefined): TokenStore {
  return {
    async findByHash(hash) {
      const [row] = (await findByHash(db, { hash })).rows
      return row && fromRow(row)
    },
    async findById(id, rowLock) {
      const row = await db
        .selectFrom('tokens')
        .select(COLUMNS)
        .where('id', '=', id)
        .$if(lockName !== undefined && rowLock === 'share', (query) => query.forShare())
        .executeTakeFirst()
      return row && fromRow(row)
    },
    async insert(token, hash) {
      const row = { ...token, hash, scopes: token.scopes.join(' ') }
      await db.insertInto('tokens').values(row).execute()
    },
    async list(workspaceId) {
      let query = db
        .selectFrom('tokens')
        .leftJoin('people', 'people.id', 'tokens.created_by')
        .select(COLUMNS.map((column) => `tokens.${column}` as const))
        .select('people.name as creator_name')
        .orderBy('tokens.created_at')
      if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
      const rows = await query.execute()
      return rows.map(({ creator_name: creatorName, ...row }) => ({
        token: fromRow(row),
        creatorName,
      }))
    },
    async revoke(workspaceId, id, atMicros) {
      let query = db
        .updateTable('tokens')
        .set({ revoked_at: atMicros })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
      if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
      const row = await query.returning(COLUMNS).executeTakeFirst()
      return row && fromRow(row)
    },
    async revokeAll(workspaceId, atMicros) {
      const rows = await db
        .updateTable('tokens')
        .set({ revoked_at: atMicros })
        .where('workspace_id', '=', workspaceId)
        .where('revoked_at', 'is', null)
        .returning('id')
        .execute()
      return rows.map(({ id }) => id)
    },
    async forgetCreator(personId) {
      await db
        .updateTable('tokens')
        .set({ created_by: null })
        .where('created_by', '=', personId)
        .execute()
    },
    async noteUse(id, atMicros) {
      await db.updateTable('tokens').set({ last_used_at: atMicros }).where('id', '=', id).execute()
    },
  }
}

function fromRow(row: Pick<Selectable<Schema['tokens']>, (typeof COLUMNS)[number]>): Token {
  return { ...row, scopes: row.scopes.split(' ').filter(isScope) }
}
