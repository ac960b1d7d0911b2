import { type ChangeLog, tokenChange } from '../../platform/changes/changes.ts'
import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import type { NewEvent } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import {
  type IdempotencyStores,
  runIdempotent,
  type SealedRequest,
} from '../../platform/idempotency/idempotency.ts'
import { type Clock, formatInstant } from '../../platform/time/clock.ts'
import type { Actor, ActorIn } from '../actor.ts'
import { endLostGrants, type GrantStores } from '../grants/grants.ts'
import { type ActingStores, requireActor } from '../grants/require-actor.ts'
import { permissionsOf } from '../permissions.ts'
import { generateSecret, hashSecret } from './authenticator.ts'
import type { Scope } from './scope.ts'
import type { NamedToken, Token } from './token.ts'

type NewTokenOptions = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Microseconds since the epoch; null for a token that does not expire. */
  readonly expiresAt: number | null
}

type TokenStores = GrantStores & ActingStores & IdempotencyStores & { readonly changes: ChangeLog }

type NewToken = NamedToken & { readonly secret: string }

/** The operations on tokens. */
export class Tokens {
  readonly #store: Store<TokenStores>
  readonly #clock: Clock
  readonly #random: Random

  constructor(deps: { store: Store<TokenStores>; clock: Clock; random: Random }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#random = deps.random
  }

  /**
   * Creates a token in the actor's workspace. The secret is returned here, and is otherwise kept only for a repetition of
   * the request.
   *
   * @throws {Failure} `validation_failed` for a scope that would allow what the actor may not do, and for a token that
   *   would outlive the one that creates it; `idempotency_conflict`; as `requireActor`
   */
  async create(
    actor: Actor,
    options: NewTokenOptions,
    repeatable?: SealedRequest,
  ): Promise<NewToken> {
    const now = this.#clock.nowMicros()
    const isPerson = actor.kind === 'person'
    const secret = generateSecret(this.#random)
    const token: Token = {
      id: uuidV7(this.#clock, this.#random),
      workspace_id: actor.workspaceId,
      name: options.name,
      scopes: [...new Set(options.scopes)],
      created_at: now,
      created_by: isPerson ? actor.id : null,
      expires_at: options.expiresAt,
      last_used_at: null,
      revoked_at: null,
    }
    return this.#store.write(async (stores) => {
      const current = await requireActor(stores, actor, 'tokens.create', { nowMicros: now })
      refuseHigherScopes(current, options.scopes)
      if (current.kind === 'token') await refuseLaterEnd(stores, current, token)
      return runIdempotent<void, NewToken>(stores, actor.workspaceId, repeatable, now, {
        read: async () => {},
        async write() {
          await stores.tokens.insert(token, hashSecret(secret))
          await stores.events.append(current, tokenEvent('token.created', token), now)
          return { token, creatorName: isPerson ? actor.name : null, secret }
        },
      })
    })
  }

  /** Returns the tokens of the actor's workspace that are not revoked, oldest first. */
  async listUsable({ workspaceId }: Actor): Promise<readonly NamedToken[]> {
    const listed = await this.#store.read.tokens.list(workspaceId)
    return listed.filter(({ token }) => token.revoked_at === null)
  }

  /** Returns all tokens of one workspace, or of every workspace, oldest first. */
  async list(workspaceId: string | undefined): Promise<readonly Token[]> {
    return (await this.#store.read.tokens.list(workspaceId)).map(({ token }) => token)
  }

  /** @throws {Failure} `not_found` also for a token that was revoked before, or is of another workspace */
  revoke(actor: Actor, id: string): Promise<void> {
    return this.#revoke(id, actor.workspaceId, async (stores, nowMicros) => {
      const current = await requireActor(stores, actor, 'tokens.delete', { nowMicros })
      return () => current
    })
  }

  /** As `revoke`, in whatever workspace the token is. */
  revokeAnywhere(by: ActorIn, id: string): Promise<void> {
    return this.#revoke(id, undefined, async () => by)
  }

  async #revoke(
    id: string,
    workspaceId: string | undefined,
    judge: (stores: TokenStores, nowMicros: number) => Promise<ActorIn>,
  ): Promise<void> {
    const notFound = Failure.notFound(`Token "${id}"`)
    if (!isUuid(id)) throw notFound
    await this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      const by = await judge(stores, now)
      const token = await stores.tokens.revoke(workspaceId, id, now)
      if (token === undefined) throw notFound
      await stores.changes.append(tokenChange(id), now)
      await stores.events.append(by(token.workspace_id), tokenEvent('token.revoked', token), now)
      await endLostGrants(stores, id, now)
    })
  }
}

/** @throws {Failure} `validation_failed` */
function refuseHigherScopes({ permissions }: Actor, scopes: readonly Scope[]): void {
  const refused = scopes.filter((scope) =>
    [...permissionsOf([scope])].some((permission) => !permissions.has(permission)),
  )
  if (refused.length === 0) return
  throw Failure.invalid({
    scopes: [{ code: 'exceeds_rights', reason: 'scopes', scopes: refused }],
  })
}

/** @throws {Failure} `validation_failed` */
async function refuseLaterEnd(
  { tokens }: TokenStores,
  { id }: Actor,
  { expires_at }: Token,
): Promise<void> {
  const end = id === null ? null : ((await tokens.findById(id))?.expires_at ?? null)
  if (end === null || (expires_at !== null && expires_at <= end)) return
  throw Failure.invalid({
    expires_at: [{ code: 'too_late', reason: 'token', max: formatInstant(end) }],
  })
}

function tokenEvent(type: 'token.created' | 'token.revoked', token: Token): NewEvent {
  const { id, name, scopes, expires_at } = token
  const expiresAt = expires_at === null ? {} : { expires_at: formatInstant(expires_at) }
  const fields = { name, scopes, ...expiresAt }
  return type === 'token.created'
    ? { type, subjectId: id, before: null, after: fields }
    : { type, subjectId: id, before: fields, after: null }
}
