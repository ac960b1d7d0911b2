import type { Clock } from '../../lib/clock.ts'
import type { Random } from '../../lib/random.ts'
import { isUuid, uuidV7 } from '../../lib/uuid.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../store.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Scope } from './scope.ts'
import { generateSecret, hashSecret, isSecret } from './secret.ts'
import type { Token } from './token.ts'

/** How exact `last_used_at` is: one write per token and minute, not one per request. */
const USE_RESOLUTION_MICROS = 60 * 1_000_000

type NewTokenOptions = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Microseconds since the epoch; null for a token that does not expire. */
  readonly expiresAt: number | null
}

export type Tokens = {
  /** The secret is returned here and kept nowhere. */
  create(workspace: Workspace, options: NewTokenOptions): Promise<{ token: Token; secret: string }>
  list(workspace: Workspace | undefined): Promise<readonly Token[]>
  /** @throws {Failure} `not_found` also for a token that was revoked before */
  revoke(id: string): Promise<void>
  /**
   * The token that a secret belongs to.
   *
   * @throws {Failure} `unauthorized` when it is unknown, expired or revoked
   */
  authenticate(secret: string): Promise<Token>
}

export function tokens(deps: {
  store: Store
  clock: Clock
  random: Random
  /** Told when a token's last use could not be written, which fails no request. */
  onError: (error: unknown) => void
}): Tokens {
  const { store, clock, random } = deps
  const unwrittenUses = new Set<string>()
  const lookUps = new Map<string, Promise<Token | undefined>>()

  /** Requests of the same turn of the event loop share one look-up; the next turn looks anew. */
  function find(secret: string): Promise<Token | undefined> {
    const underWay = lookUps.get(secret)
    if (underWay !== undefined) return underWay
    if (lookUps.size === 0) setImmediate(() => lookUps.clear())
    const lookUp = store.read.tokens.findByHash(hashSecret(secret))
    lookUps.set(secret, lookUp)
    return lookUp
  }

  function noteUse(token: Token, now: number): void {
    if (now - (token.last_used_at ?? 0) < USE_RESOLUTION_MICROS || unwrittenUses.has(token.id))
      return
    unwrittenUses.add(token.id)
    store
      .write((stores) => stores.tokens.noteUse(token.id, now))
      .catch(deps.onError)
      .finally(() => unwrittenUses.delete(token.id))
  }

  return {
    async create(workspace, options) {
      const secret = generateSecret(random)
      const token: Token = {
        id: uuidV7(clock, random),
        workspace_id: workspace.id,
        name: options.name,
        scopes: options.scopes,
        created_at: clock.nowMicros(),
        expires_at: options.expiresAt,
        last_used_at: null,
        revoked_at: null,
      }
      await store.write((stores) => stores.tokens.insert(token, hashSecret(secret)))
      return { token, secret }
    },

    list: (workspace) => store.read.tokens.list(workspace?.id),

    async revoke(id) {
      const revoked =
        isUuid(id) && (await store.write((stores) => stores.tokens.revoke(id, clock.nowMicros())))
      if (!revoked) throw Failure.notFound(`Token "${id}"`)
    },

    async authenticate(secret) {
      if (!isSecret(secret)) throw Failure.unauthorized('This is not a valid token.')
      const token = await find(secret)
      const now = clock.nowMicros()
      if (token === undefined || token.revoked_at !== null) {
        throw Failure.unauthorized('This is not a valid token.')
      }
      if (token.expires_at !== null && token.expires_at <= now) {
        throw Failure.unauthorized('This token has expired.')
      }
      noteUse(token, now)
      return token
    },
  }
}
