import type { IncomingMessage } from 'node:http'
import type { PasswordVault } from '../domain/links/password-vault.ts'
import { subscriberOf } from '../lib/ip-address.ts'
import type { Throttles } from '../lib/throttles.ts'
import { readPassword } from './password-form.ts'

/** Passwords tried in each minute: by one visitor at all links, and wrongly by all visitors at one. */
const ATTEMPTS_PER_ADDRESS = 10
const ATTEMPTS_PER_LINK = 100
const ATTEMPTS_WINDOW_SECONDS = 60
const THROTTLED_KEYS_MAX = 100_000

export type FailedAttempt =
  /** The password was not looked at. */
  | { readonly kind: 'throttled'; readonly waitSeconds: number }
  /** What was sent is no password form. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'wrong' }

/** How an attempt at a link's password ended. */
export type PasswordAttempt = FailedAttempt | { readonly kind: 'right' }

/**
 * Reads the password that a request's form holds and compares it with that of the link with the number
 * `seq`, for as many attempts as its address and the link may have.
 *
 * @param sealed the link's password as it is kept
 */
export type AttemptPassword = (
  request: IncomingMessage,
  address: string,
  seq: number,
  sealed: string,
) => Promise<PasswordAttempt>

export function passwordAttempts(deps: {
  vault: Pick<PasswordVault, 'verify'>
  throttles: Throttles
}): AttemptPassword {
  const throttle = (name: string, limit: number) =>
    deps.throttles.create(name, {
      limit,
      windowSeconds: ATTEMPTS_WINDOW_SECONDS,
      keysMax: THROTTLED_KEYS_MAX,
    })
  const perAddress = throttle('passwords-of-address', ATTEMPTS_PER_ADDRESS)
  const perLink = throttle('passwords-of-link', ATTEMPTS_PER_LINK)

  return async (request, address, seq, sealed) => {
    const ofAddress = perAddress.take(subscriberOf(address))
    const verdict = ofAddress.allowed ? perLink.take(String(seq)) : ofAddress
    if (!verdict.allowed) {
      request.resume()
      return { kind: 'throttled', waitSeconds: verdict.resetSeconds }
    }
    const text = await readPassword(request)
    if (text === undefined) return { kind: 'malformed' }
    if (!(await deps.vault.verify(sealed, text))) return { kind: 'wrong' }
    // Many may know a link's password and come at once. An address pays for right ones too, because
    // each costs a hash.
    perLink.giveBack(String(seq))
    return { kind: 'right' }
  }
}
