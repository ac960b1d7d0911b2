/**
 * - `unavailable`: it cannot be reached, does not answer in time, or has an internal error
 * - `rateLimited`: it has received too many requests
 * - `account`: it does not know the account, or the account's owner has to act first
 * - `notFound`: it no longer knows the order
 * - `rejected`: it refuses this request for this host
 */
export type AuthorityErrorKind = 'unavailable' | 'rateLimited' | 'account' | 'notFound' | 'rejected'

/** A request to a certificate authority that failed. */
export class AuthorityError extends Error {
  override readonly name = 'AuthorityError'
  readonly kind: AuthorityErrorKind
  /** How long the authority asks the client to wait; undefined where it does not say. */
  readonly retryAfterMs: number | undefined

  /** @param message for people; it may quote the authority, so control characters are replaced */
  constructor(
    kind: AuthorityErrorKind,
    message: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(printable(message), { cause: options.cause })
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
  }
}

const MESSAGE_LENGTH_MAX = 500

/** Replaces control characters: a terminal that shows the message would interpret them. */
function printable(text: string): string {
  return text.slice(0, MESSAGE_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?')
}
