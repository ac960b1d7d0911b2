import { type CacheUse, CoherentCache } from '../../platform/cache/coherent-cache.ts'
import type { ChangeListener } from '../../platform/changes/change-listener.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { hashSecret, isSecret } from './secret.ts'
import type { TokenStore } from './store/token-store.ts'
import type { Token } from './token.ts'

/** How exact `last_used_at` is: one write per token and minute of each process, not one per request. */
const USE_RESOLUTION_MICROS = 60 * 1_000_000
const TOKENS_MAX = 50_000

/** A token in memory, with the use of it that this process knows of. */
type KnownToken = { readonly token: Token; lastUsedAt: number }

/** Says whose a secret is, from memory where it can. What it forgets it looks up anew. */
export type Authenticator = ChangeListener & {
  /**
   * The token that a secret belongs to: at once where it is known.
   *
   * @throws {Failure} `unauthorized` when it is unknown, expired or revoked
   */
  authenticate(secret: string): Token | Promise<Token>
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
      return token && { token, lastUsedAt: token.last_used_at ?? 0 }
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

  function admit(entry: KnownToken | undefined): Token {
    if (entry === undefined || entry.token.revoked_at !== null) throw notValid()
    const { token } = entry
    const now = clock.nowMicros()
    if (token.expires_at !== null && token.expires_at <= now) {
      throw Failure.unauthorized('This token has expired.')
    }
    noteUse(entry, now)
    return token
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
  return Failure.unauthorized('This is not a valid token.')
}
