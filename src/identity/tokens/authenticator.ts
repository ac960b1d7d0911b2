import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type CacheUse, CoherentCache } from '../../platform/cache/coherent-cache.ts'
import type { ChangeListener } from '../../platform/changes/changes.ts'
import { type Random, randomString } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type Actor, tokenActor } from '../actor.ts'
import type { TokenStore } from './store/token-store.ts'
import type { Token } from './token.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'terse_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const SECRET = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * A token's secret: `terse_`, 30 random base62 characters (178 bits), and the CRC-32 of these in six
 * more, by which a secret scanner knows a token from a look-alike without asking us.
 */
export function generateSecret(random: Random): string {
  const text = randomString(random, BASE62, RANDOM_LENGTH)
  return PREFIX + text + checksum(text)
}

/** Whether the text has the form and the checksum of a secret. */
export function isSecret(text: string): boolean {
  if (!SECRET.test(text)) return false
  const body = text.slice(PREFIX.length)
  return checksum(body.slice(0, RANDOM_LENGTH)) === body.slice(RANDOM_LENGTH)
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
