import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { CompatScope, CompatService } from '@terse/contract/compat-services'
import { BASE62, isUuid, type Random, randomString, uuidV7 } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import type { SealedRequest } from '../platform/http/api/idempotency.ts'
import { type Clock, formatInstant } from '../platform/time/clock.ts'
import { type ChangeListener, type ChangeLog, tokenChange } from '../storage/changes.ts'
import { type CacheUse, CoherentCache } from '../storage/coherent-cache.ts'
import type { EventWriter, NewEvent } from '../storage/event-log.ts'
import { type IdempotencyStores, runIdempotent } from '../storage/idempotency.ts'
import type { Store } from '../storage/store.ts'
import { type Actor, type ActorIn, tokenActor } from './actor.ts'
import { type ActingStores, endLostGrants, type GrantStores, requireActor } from './grants.ts'
import { grantedBy, isCompatScope, type Scope, serviceOf } from './permissions.ts'
import type { CompatStore } from './store/compat-store.ts'
import type { NamedToken, Token, TokenStore } from './store/token-store.ts'

type NewTokenOptions = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Microseconds since the epoch; null for a token that does not expire. */
  readonly expiresAt: number | null
}

type TokenStores = GrantStores &
  ActingStores &
  IdempotencyStores & { readonly changes: ChangeLog; readonly compat: CompatStore }

type NewToken = NamedToken & { readonly secret: string }

/** Seals secrets of tokens for the one client that sends a hash of them. */
export type SecretSealing = {
  seal(tokenId: string, secret: string): string
  /** Undefined where it was sealed under another key. */
  unseal(tokenId: string, sealed: string): string | undefined
}

/** The operations on tokens. */
export class Tokens {
  readonly #store: Store<TokenStores>
  readonly #clock: Clock
  readonly #random: Random
  readonly #sealing: SecretSealing

  constructor(deps: {
    store: Store<TokenStores>
    clock: Clock
    random: Random
    secretSealing: SecretSealing
  }) {
    this.#sealing = deps.secretSealing
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
    const [other] = options.scopes.filter(isCompatScope)
    if (other !== undefined && new Set(options.scopes).size > 1) {
      throw Failure.invalid({ scopes: [{ code: 'not_alone', scope: other }] })
    }
    const now = this.#clock.nowMicros()
    const isPerson = actor.kind === 'person'
    const secret = generateSecret(this.#random, other)
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
        write: async () => {
          await stores.tokens.insert(token, hashSecret(secret))
          await stores.events.append(current, tokenEvent('token.created', token), now)
          if (other !== undefined) {
            const change = { service: serviceOf(other), isEnabled: true }
            await switchCompat(stores, current, change, now)
          }
          // Its clients may send a hash of the secret and the time.
          if (other === 'compat:yourls') {
            await stores.compat.insertSecret(token.id, this.#sealing.seal(token.id, secret))
          }
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
      await stores.compat.deleteSecret(id)
      await stores.changes.append(tokenChange(id), now)
      await stores.events.append(by(token.workspace_id), tokenEvent('token.revoked', token), now)
      await endLostGrants(stores, id, now)
    })
  }
}

/** Switches the API of a service on or off for the actor's workspace, with an event unless it is so already. */
export async function switchCompat(
  { compat, events }: { readonly compat: CompatStore; readonly events: EventWriter },
  actor: Actor,
  { service, isEnabled }: { readonly service: CompatService; readonly isEnabled: boolean },
  nowMicros: number,
): Promise<void> {
  const { workspaceId } = actor
  const before = (await compat.enabled(workspaceId)).has(service)
  if (before === isEnabled) return
  await compat.enable(workspaceId, service, isEnabled)
  const field = `compat_${service}`
  const fields = { before: { [field]: before }, after: { [field]: isEnabled } }
  const event = { type: 'workspace.updated', subjectId: workspaceId, ...fields } as const
  await events.append(actor, event, nowMicros)
}

/** @throws {Failure} `validation_failed` */
function refuseHigherScopes({ permissions }: Actor, scopes: readonly Scope[]): void {
  const refused = scopes.filter((scope) =>
    [...grantedBy(scope)].some((permission) => !permissions.has(permission)),
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

const PREFIX = 'terse_'
const RANDOM_LENGTH = 30
/** The browser extension of Kutt takes keys of exactly 40 characters. */
const KUTT_RANDOM_LENGTH = 28
const CHECKSUM_LENGTH = 6
const SECRET = new RegExp(
  `^${PREFIX}(?:[0-9A-Za-z]{${KUTT_RANDOM_LENGTH}}|[0-9A-Za-z]{${RANDOM_LENGTH}})[0-9A-Za-z]{${CHECKSUM_LENGTH}}$`,
)

/**
 * A token's secret: `terse_`, 30 random base62 characters (178 bits; 28 and 166 bits for clients of Kutt), and the CRC-32 of
 * these in six more, by which a secret scanner knows a token from a look-alike without asking us.
 */
export function generateSecret(random: Random, scope?: CompatScope): string {
  const length = scope === 'compat:kutt' ? KUTT_RANDOM_LENGTH : RANDOM_LENGTH
  const text = randomString(random, BASE62, length)
  return PREFIX + text + checksum(text)
}

/** Whether the text has the form and the checksum of a secret. */
export function isSecret(text: string): boolean {
  if (!SECRET.test(text)) return false
  const body = text.slice(PREFIX.length)
  return checksum(body.slice(0, -CHECKSUM_LENGTH)) === body.slice(-CHECKSUM_LENGTH)
}

/** All that is stored of a secret: its SHA-256, in hexadecimal. It has too many bits to be guessed. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = BASE62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** How exact `last_used_at` is: one write per token and minute of each process, not one per request. */
const USE_RESOLUTION_MICROS = 60 * 1_000_000
const TOKENS_MAX = 50_000

/** A cached token, its actor, and when this process knows it to have been used last. */
type KnownToken = { readonly token: Token; readonly actor: Actor; lastUsedAt: number }

/** Finds the actor of a secret: cached, or else in the store. */
export type Authenticator = ChangeListener & {
  /**
   * Returns the actor of the token that a secret belongs to, without its request; at once where it is
   * cached.
   *
   * @throws {Failure} `unauthorized` when it is unknown, expired or revoked
   */
  authenticate(secret: string): Actor | Promise<Actor>
  readonly use: CacheUse
}

export function authenticator(deps: {
  store: Store<{ readonly tokens: TokenStore }>
  clock: Clock
  /** Told when a token's last use could not be written, which fails no request. */
  onError: (error: unknown) => void
}): Authenticator {
  const { store, clock } = deps
  const known = new CoherentCache<KnownToken>({
    sizeMax: TOKENS_MAX,
    sizeOf: () => 1,
    async load(hash) {
      const token = await store.read.tokens.findByHash(hash)
      return token && { token, actor: tokenActor(token), lastUsedAt: token.last_used_at ?? 0 }
    },
  })

  function noteUse(entry: KnownToken, now: number): void {
    const before = entry.lastUsedAt
    if (now - before < USE_RESOLUTION_MICROS) return
    entry.lastUsedAt = now
    store
      .write((stores) => stores.tokens.noteUse(entry.token.id, now))
      .catch((error) => {
        entry.lastUsedAt = before
        deps.onError(error)
      })
  }

  function admit(entry: KnownToken | undefined): Actor {
    if (entry === undefined || entry.token.revoked_at !== null) throw notValid()
    const { token, actor } = entry
    const now = clock.nowMicros()
    if (token.expires_at !== null && token.expires_at <= now) {
      throw Failure.unauthorized({ code: 'expired_token' })
    }
    noteUse(entry, now)
    return actor
  }

  return {
    get use() {
      return known.use
    },
    authenticate(secret) {
      if (!isSecret(secret)) throw notValid()
      const entry = known.get(hashSecret(secret))
      return entry instanceof Promise ? entry.then(admit) : admit(entry)
    },
    apply(changes) {
      // Tokens are known by their hashes, which no change tells; they change so seldom that to forget
      // all of them costs nothing.
      if (changes.some(({ kind }) => kind === 'token')) known.forgetAll()
    },
    forgetAll: () => known.forgetAll(),
    forgetAbsences: () => known.forgetAbsences(),
  }
}

function notValid(): Failure {
  return Failure.unauthorized({ code: 'invalid_token' })
}
