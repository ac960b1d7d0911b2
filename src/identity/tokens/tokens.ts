import { tokenChange } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Random } from '../../platform/crypto/random.ts'
import { isUuid, uuidV7 } from '../../platform/crypto/uuid.ts'
import type { Store } from '../../platform/database/store.ts'
import type { EventWriter, NewEvent } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { formatInstant } from '../../platform/time/instant.ts'
import type { Actor, ActorIn } from '../actor.ts'
import type { Scope } from './scope.ts'
import { generateSecret, hashSecret } from './secret.ts'
import type { TokenStore } from './store/token-store.ts'
import type { Token } from './token.ts'

type NewTokenOptions = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Microseconds since the epoch; null for a token that does not expire. */
  readonly expiresAt: number | null
}

export type Tokens = {
  /** The secret is returned here and kept nowhere. */
  create(actor: Actor, options: NewTokenOptions): Promise<{ token: Token; secret: string }>
  /** Those of the actor's workspace, oldest first. */
  list(actor: Actor): Promise<readonly Token[]>
  /** Those of all workspaces, oldest first. */
  listAll(): Promise<readonly Token[]>
  /** @throws {Failure} `not_found` also for a token that was revoked before */
  revoke(by: ActorIn, id: string): Promise<void>
}

type TokenStores = {
  readonly tokens: TokenStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

export function tokens(deps: { store: Store<TokenStores>; clock: Clock; random: Random }): Tokens {
  const { store, clock, random } = deps

  return {
    async create(actor, options) {
      const secret = generateSecret(random)
      const token: Token = {
        id: uuidV7(clock, random),
        workspace_id: actor.workspaceId,
        name: options.name,
        scopes: options.scopes,
        created_at: clock.nowMicros(),
        expires_at: options.expiresAt,
        last_used_at: null,
        revoked_at: null,
      }
      await store.write(async (stores) => {
        await stores.tokens.insert(token, hashSecret(secret))
        await stores.events.append(actor, tokenEvent('token.created', token), token.created_at)
      })
      return { token, secret }
    },

    list: ({ workspaceId }) => store.read.tokens.list(workspaceId),
    listAll: () => store.read.tokens.list(undefined),

    async revoke(by, id) {
      const notFound = Failure.notFound(`Token "${id}"`)
      if (!isUuid(id)) throw notFound
      await store.write(async (stores) => {
        const now = clock.nowMicros()
        const token = await stores.tokens.revoke(id, now)
        if (token === undefined) throw notFound
        await stores.changes.append(tokenChange(id), now)
        await stores.events.append(by(token.workspace_id), tokenEvent('token.revoked', token), now)
      })
    },
  }
}

function tokenEvent(type: 'token.created' | 'token.revoked', token: Token): NewEvent {
  const { id, name, scopes, expires_at } = token
  const expiresAt = expires_at === null ? {} : { expires_at: formatInstant(expires_at) }
  const fields = { name, scopes, ...expiresAt }
  return type === 'token.created'
    ? { type, subjectId: id, before: null, after: fields }
    : { type, subjectId: id, before: fields, after: null }
}
