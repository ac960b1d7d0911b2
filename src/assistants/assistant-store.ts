import { ASSISTANT_SCOPES } from '@terse/contract/assistants'
import type { Kysely } from 'kysely'
import type { Schema } from '../storage/schema.ts'
import type { LockName } from '../storage/store.ts'
import type { Assistant, SecretKind } from './assistant.ts'

/** A secret of an assistant, by its hash. */
type StoredSecret = {
  readonly hash: string
  readonly assistant_id: string
  readonly kind: SecretKind
  readonly expires_at: number
  /** When a code or refresh token was used. */
  readonly used_at: number | null
  /** Of a code, as is the challenge. */
  readonly redirect_uri: string | null
  readonly challenge: string | null
}

export type FoundSecret = { readonly secret: StoredSecret; readonly assistant: Assistant }

/** An assistant with the name of the person who allowed it. */
export type NamedAssistant = { readonly assistant: Assistant; readonly personName: string }

/** A program that has registered itself (RFC 7591). */
type RegisteredClient = {
  readonly id: string
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly created_at: number
}

export type AssistantStore = {
  insert(assistant: Assistant): Promise<void>
  /** Returns those of members, of one person or of all, oldest first. */
  list(workspaceId: string, personId: string | undefined): Promise<readonly NamedAssistant[]>
  count(workspaceId: string, personId: string): Promise<number>
  /** Returns what was deleted. */
  delete(
    workspaceId: string,
    id: string,
    personId: string | undefined,
  ): Promise<Assistant | undefined>
  /** Deletes those of a person who is no member of their workspace any more, or disabled. */
  deleteLost(personId: string): Promise<void>
  /** Deletes all of a person. */
  deleteAll(personId: string): Promise<void>
  noteUse(id: string, atMicros: number): Promise<void>
  /** Keeps other transactions from the assistant and its secrets until this one ends. Returns false where it is gone. */
  lock(id: string): Promise<boolean>
  insertSecret(secret: StoredSecret): Promise<void>
  /** Deletes the refresh tokens of an assistant but some: those that were not used, then those that were used last. */
  trimRefreshes(assistantId: string, kept: number): Promise<void>
  findSecret(kind: SecretKind, hash: string): Promise<FoundSecret | undefined>
  /** Returns false for one that was used before. */
  useSecret(hash: string, atMicros: number): Promise<boolean>
  insertClient(client: RegisteredClient): Promise<void>
  findClient(id: string): Promise<RegisteredClient | undefined>
  countClients(): Promise<number>
  /** Deletes what has expired, and programs that registered before and that no person lets work. True when there may be more. */
  trim(nowMicros: number, registeredBefore: number): Promise<boolean>
  isEnabled(workspaceId: string): Promise<boolean>
  enable(workspaceId: string, isEnabled: boolean): Promise<void>
}

const COLUMNS = [
  'id',
  'workspace_id',
  'person_id',
  'client_id',
  'client_name',
  'scopes',
  'created_at',
  'expires_at',
  'last_used_at',
] as const

const TRIM_MAX = 1_000

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function assistantStore(db: Kysely<Schema>, lockName: LockName | undefined): AssistantStore {
  return { ...grants(db, lockName), ...secrets(db), ...clients(db), ...settings(db) }
}

function grants(
  db: Kysely<Schema>,
  lockName: LockName | undefined,
): Pick<
  AssistantStore,
  'insert' | 'list' | 'count' | 'delete' | 'deleteLost' | 'deleteAll' | 'noteUse' | 'lock'
> {
  const ofMembers = () =>
    db
      .selectFrom('assistants')
      .innerJoin('memberships', (join) =>
        join
          .onRef('memberships.workspace_id', '=', 'assistants.workspace_id')
          .onRef('memberships.person_id', '=', 'assistants.person_id'),
      )
      .innerJoin('people', 'people.id', 'assistants.person_id')

  return {
    async insert(assistant) {
      const row = { ...assistant, scopes: assistant.scopes.join(' ') }
      await db.insertInto('assistants').values(row).execute()
    },
    async list(workspaceId, personId) {
      let query = ofMembers()
        .select(COLUMNS.map((column) => `assistants.${column}` as const))
        .select('people.name as person_name')
        .where('assistants.workspace_id', '=', workspaceId)
        .orderBy('assistants.created_at')
      if (personId !== undefined) query = query.where('assistants.person_id', '=', personId)
      const rows = await query.execute()
      return rows.map(({ person_name, ...row }) => ({
        assistant: fromRow(row),
        personName: person_name,
      }))
    },
    async count(workspaceId, personId) {
      const { assistants } = await db
        .selectFrom('assistants')
        .select(({ fn }) => fn.countAll<number>().as('assistants'))
        .where('workspace_id', '=', workspaceId)
        .where('person_id', '=', personId)
        .executeTakeFirstOrThrow()
      return assistants
    },
    async delete(workspaceId, id, personId) {
      let query = db
        .deleteFrom('assistants')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
      if (personId !== undefined) query = query.where('person_id', '=', personId)
      const row = await query.returning(COLUMNS).executeTakeFirst()
      return row && fromRow(row)
    },
    async deleteLost(personId) {
      await db
        .deleteFrom('assistants')
        .where('person_id', '=', personId)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('memberships')
                .innerJoin('people', 'people.id', 'memberships.person_id')
                .select('memberships.person_id')
                .whereRef('memberships.workspace_id', '=', 'assistants.workspace_id')
                .where('memberships.person_id', '=', personId)
                .where('people.disabled_at', 'is', null),
            ),
          ),
        )
        .execute()
    },
    async deleteAll(personId) {
      await db.deleteFrom('assistants').where('person_id', '=', personId).execute()
    },
    async noteUse(id, atMicros) {
      await db
        .updateTable('assistants')
        .set({ last_used_at: atMicros })
        .where('id', '=', id)
        .execute()
    },
    async lock(id) {
      const row = await db
        .selectFrom('assistants')
        .select('id')
        .where('id', '=', id)
        .$if(lockName !== undefined, (query) => query.forUpdate())
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

function secrets(
  db: Kysely<Schema>,
): Pick<AssistantStore, 'insertSecret' | 'trimRefreshes' | 'findSecret' | 'useSecret'> {
  return {
    async insertSecret(secret) {
      await db.insertInto('assistant_secrets').values(secret).execute()
    },
    async trimRefreshes(assistantId, kept) {
      const latest = db
        .selectFrom('assistant_secrets')
        .select('hash')
        .where('assistant_id', '=', assistantId)
        .where('kind', '=', 'refresh')
        .orderBy('used_at', (order) => order.desc().nullsFirst())
        .limit(kept)
      await db
        .deleteFrom('assistant_secrets')
        .where('assistant_id', '=', assistantId)
        .where('kind', '=', 'refresh')
        .where('hash', 'not in', latest)
        .execute()
    },
    async findSecret(kind, hash) {
      const row = await db
        .selectFrom('assistant_secrets')
        .innerJoin('assistants', 'assistants.id', 'assistant_secrets.assistant_id')
        .select(COLUMNS.map((column) => `assistants.${column}` as const))
        .select([
          'assistant_secrets.expires_at as secret_expires_at',
          'assistant_secrets.used_at',
          'assistant_secrets.redirect_uri',
          'assistant_secrets.challenge',
        ])
        .where('hash', '=', hash)
        .where('kind', '=', kind)
        .executeTakeFirst()
      if (row === undefined) return undefined
      const { secret_expires_at, used_at, redirect_uri, challenge, ...grant } = row
      const secret = {
        ...{ hash, kind, assistant_id: row.id, expires_at: secret_expires_at },
        ...{ used_at, redirect_uri, challenge },
      }
      return { secret, assistant: fromRow(grant) }
    },
    async useSecret(hash, atMicros) {
      const row = await db
        .updateTable('assistant_secrets')
        .set({ used_at: atMicros })
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .returning('hash')
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

function clients(
  db: Kysely<Schema>,
): Pick<AssistantStore, 'insertClient' | 'findClient' | 'countClients' | 'trim'> {
  return {
    async insertClient(client) {
      const row = { ...client, redirect_uris: JSON.stringify(client.redirect_uris) }
      await db.insertInto('oauth_clients').values(row).execute()
    },
    async findClient(id) {
      const row = await db
        .selectFrom('oauth_clients')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      return row && { ...row, redirect_uris: JSON.parse(row.redirect_uris) }
    },
    async countClients() {
      const row = await db
        .selectFrom('oauth_clients')
        .select(({ fn }) => fn.countAll<number>().as('clients'))
        .executeTakeFirstOrThrow()
      return row.clients
    },
    async trim(nowMicros, registeredBefore) {
      // With its secrets gone: each may have hundreds, and their deletion must stay short.
      const ended = db
        .selectFrom('assistants')
        .select('id')
        .where('expires_at', '<=', nowMicros)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('assistant_secrets')
                .select('hash')
                .whereRef('assistant_id', '=', 'assistants.id'),
            ),
          ),
        )
        .limit(TRIM_MAX)
      const expired = db
        .selectFrom('assistant_secrets')
        .select('hash')
        .where('expires_at', '<=', nowMicros)
        .limit(TRIM_MAX)
      const deleted = [
        await db.deleteFrom('assistant_secrets').where('hash', 'in', expired).executeTakeFirst(),
        await db.deleteFrom('assistants').where('id', 'in', ended).executeTakeFirst(),
      ]
      await db
        .deleteFrom('oauth_clients')
        .where('created_at', '<', registeredBefore)
        .where('id', 'not in', db.selectFrom('assistants').select('client_id'))
        .execute()
      return deleted.some(({ numDeletedRows }) => numDeletedRows === BigInt(TRIM_MAX))
    },
  }
}

function settings(db: Kysely<Schema>): Pick<AssistantStore, 'isEnabled' | 'enable'> {
  return {
    async isEnabled(workspaceId) {
      const row = await db
        .selectFrom('assistant_settings')
        .select('is_enabled')
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst()
      return row?.is_enabled !== 0
    },
    async enable(workspaceId, isEnabled) {
      const values = { is_enabled: Number(isEnabled) }
      await db
        .insertInto('assistant_settings')
        .values({ workspace_id: workspaceId, ...values })
        .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(values))
        .execute()
    },
  }
}

type Row = Pick<Schema['assistants'], (typeof COLUMNS)[number]>

function fromRow(row: Row): Assistant {
  const scopes = ASSISTANT_SCOPES.filter((scope) => row.scopes.split(' ').includes(scope))
  return { ...row, scopes }
}
