/**
 * - `away`: it cannot be reached, does not answer in time, or has a fault of its own
 * - `limited`: it was asked for too much
 * - `account`: it does not know the account, or wants something of its owner first
 * - `gone`: it does not know the order any more
 * - `refused`: it will not do this for this host
 */
export type AuthorityTrouble = 'away' | 'limited' | 'account' | 'gone' | 'refused'

/** What a certificate authority answers in place of what it was asked for. */
export class AuthorityError extends Error {
  override readonly name = 'AuthorityError'
  readonly trouble: AuthorityTrouble
  /** How long it asks to be left alone; undefined where it does not say. */
  readonly retryAfterMs: number | undefined

  /** @param message for people to read; comes from the authority, so it is cleaned */
  constructor(
    trouble: AuthorityTrouble,
    message: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(printable(message), { cause: options.cause })
    this.trouble = trouble
    this.retryAfterMs = options.retryAfterMs
  }
}

const MESSAGE_LENGTH_MAX = 500

/** What strangers say is shown on terminals, which would obey some of it. */
function printable(text: string): string {
  return text.slice(0, MESSAGE_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?')
}
