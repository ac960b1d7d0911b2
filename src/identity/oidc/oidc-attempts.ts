import { hash } from 'node:crypto'
import type { Random } from '../../platform/crypto/random.ts'
import type { SealedCookie } from '../../platform/http/cookies/sealed-cookie.ts'
import type { UsedChallengeStore } from '../second-factors/store/used-challenge-store.ts'
import type { OidcChecks } from './oidc-provider.ts'

const RANDOM_BYTES = 32
/** The context under which the cookie is sealed. */
const CONTEXT = 'single sign-on'

/** What a way through the provider is for. */
export type OidcIntent =
  | { readonly kind: 'sign-in' }
  /** To link the account to a person who is signed in. */
  | { readonly kind: 'link'; readonly personId: string }
  /** To accept an invitation. */
  | { readonly kind: 'invitation'; readonly code: string }

/** A way through the provider that a browser has begun. */
export type OidcAttempt = OidcChecks & {
  readonly intent: OidcIntent
  /** Where the browser goes afterwards: a path of the dashboard. */
  readonly returnPath: string
}

export type AttemptCookie = SealedCookie<OidcAttempt>

/** The ways through the provider that are under way: each is in a cookie of its browser alone. */
export class OidcAttempts {
  readonly #cookie: AttemptCookie
  readonly #random: Random

  constructor(cookie: AttemptCookie, random: Random) {
    this.#cookie = cookie
    this.#random = random
  }

  begin(intent: OidcIntent, returnPath: string): { attempt: OidcAttempt; setCookie: string } {
    const text = () => Buffer.from(this.#random(RANDOM_BYTES)).toString('base64url')
    const attempt = { state: text(), nonce: text(), verifier: text(), intent, returnPath }
    return { attempt, setCookie: this.#cookie.issue(attempt, CONTEXT) }
  }

  /**
   * Returns the attempt of a `Cookie` header; undefined where there is none that is valid. `redeem` marks it
   * as used in a transaction, and returns false when it was used before.
   */
  read(cookies: string | undefined):
    | {
        readonly attempt: OidcAttempt
        redeem(stores: { readonly usedChallenges: UsedChallengeStore }): Promise<boolean>
      }
    | undefined {
    const opened = this.#cookie.read(cookies, CONTEXT)
    if (opened === undefined) return undefined
    const attempt = opened.value
    return {
      attempt,
      redeem: ({ usedChallenges }) =>
        usedChallenges.use(hash('sha256', attempt.state, 'hex'), opened.expiresAtMicros),
    }
  }

  get removal(): string {
    return this.#cookie.removal
  }
}
