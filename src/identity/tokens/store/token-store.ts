import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import { statement } from '../../../platform/database/statement.ts'
import { isScope } from '../scope.ts'
import type { Token } from '../token.ts'

export type TokenStore = {
  /** @param hash the hash of the token's secret */
  findByHash(hash: string): Promise<Token | undefined>
  insert(token: Token, hash: string): Promise<void>
  /** Returns the tokens of one workspace or of all, oldest first. */
  list(workspaceId: string | undefined): Promise<readonly Token[]>
  /** Returns the token that was revoked; undefined when there is none, or it was revoked before. */
  revoke(id: string, atMicros: number): Promise<Token | undefined>
  noteUse(id: string, atMicros: number): Promise<void>
}

const COLUMNS = [
  'id',
  'workspace_id',
  'name',
  'scopes',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const

const findByHash = statement((db, { hash }: { hash: string }) =>
  db.selectFrom('tokens').select(COLUMNS).where('hash', '=', hash),
)

export function tokenStore(db: Kysely<Schema>): TokenStore {
  return {
    async findByHash(hash) {
      const [row] = (await findByHash(db, { hash })).rows
      return row && fromRow(row)
    },
    async insert(token, hash) {
      const row = { ...token, hash, scopes: token.scopes.join(' ') }
      await db.insertInto('tokens').values(row).execute()
    },
    async list(workspaceId) {
      let query = db.selectFrom('tokens').select(COLUMNS).orderBy('created_at')
      if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
      return (await query.execute()).map(fromRow)
    },
    async revoke(id, atMicros) {
      const row = await db
        .updateTable('tokens')
        .set({ revoked_at: atMicros })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .returning(COLUMNS)
        .executeTakeFirst()
      return row && fromRow(row)
    },
    async noteUse(id, atMicros) {
      await db.updateTable('tokens').set({ last_used_at: atMicros }).where('id', '=', id).execute()
    },
  }
}

function fromRow(row: Pick<Selectable<Schema['tokens']>, (typeof COLUMNS)[number]>): Token {
  return { ...row, scopes: row.scopes.split(' ').filter(isScope) }
}
