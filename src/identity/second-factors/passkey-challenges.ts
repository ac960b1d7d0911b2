import { hash } from 'node:crypto'
import type { Random } from '../../platform/crypto/random.ts'
import type { SealedCookie } from '../../platform/http/cookies/sealed-cookie.ts'
import type { SecondFactorStores } from './second-factors.ts'

export type ChallengeCookie = SealedCookie<{ readonly challenge: string }>

/** WebAuthn, section 13.4.3, asks for at least 16. */
const CHALLENGE_BYTES = 32

/** What a challenge is for: to prove a passkey, or to add one to a person. */
export type ChallengePurpose = 'authenticate' | `add to ${string}`

/** The challenge that a browser was given. */
export type Challenge = {
  /** In base64url. */
  readonly text: string
  /** Marks it as used, in the transaction of what it allows; false when it was used before. */
  redeem(stores: Pick<SecondFactorStores, 'usedChallenges'>): Promise<boolean>
}

/** Challenges for passkeys. Until one is redeemed, only its browser keeps it. */
export class PasskeyChallenges {
  readonly #cookie: ChallengeCookie
  readonly #random: Random

  constructor(cookie: ChallengeCookie, random: Random) {
    this.#cookie = cookie
    this.#random = random
  }

  /** Returns new random bytes, and the `Set-Cookie` header that keeps them. */
  issue(purpose: ChallengePurpose): { bytes: Uint8Array<ArrayBuffer>; setCookie: string } {
    const bytes = Uint8Array.from(this.#random(CHALLENGE_BYTES))
    const challenge = Buffer.from(bytes).toString('base64url')
    return { bytes, setCookie: this.#cookie.issue({ challenge }, purpose) }
  }

  /** Returns the challenge of a `Cookie` header; undefined where none is valid for the purpose. */
  read(cookies: string | undefined, purpose: ChallengePurpose): Challenge | undefined {
    const opened = this.#cookie.read(cookies, purpose)
    if (opened === undefined) return undefined
    const { challenge } = opened.value
    return {
      text: challenge,
      redeem: ({ usedChallenges }) =>
        usedChallenges.use(hash('sha256', challenge, 'hex'), opened.expiresAtMicros),
    }
  }
}
