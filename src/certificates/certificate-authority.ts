import type { RenewalWindow } from './certificate.ts'

/** An account with a certificate authority. */
export type AuthorityAccount = {
  readonly url: string
  /** PKCS #8 in PEM. */
  readonly keyPem: string
}

/** An order for one host (RFC 8555, section 7.1.3). */
export type AuthorityOrder = {
  readonly url: string
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  readonly authorizationUrl: string
  readonly finalizeUrl: string
  readonly certificateUrl: string | undefined
  /** Why it is invalid, where the authority says so here. */
  readonly fault: string | undefined
  /** How long the authority wants to be left alone before it is asked again. */
  readonly retryAfterMs: number | undefined
}

/** How a host is shown to be under our control (RFC 8555, section 8.3; RFC 8737). */
export type ChallengeType = 'http-01' | 'tls-alpn-01'

export type AuthorityChallenge = {
  readonly type: ChallengeType
  readonly url: string
  readonly token: string
  readonly status: 'pending' | 'processing' | 'valid' | 'invalid'
}

/** What the authority knows of our control over a host (RFC 8555, section 7.1.4). */
export type HostAuthorization = {
  /** `void`: invalid, deactivated, expired or revoked. */
  readonly status: 'pending' | 'valid' | 'void'
  /** Those that can be answered here. */
  readonly challenges: readonly AuthorityChallenge[]
  /** Why it is void. */
  readonly fault: string | undefined
  readonly retryAfterMs: number | undefined
}

/** When the authority advises to renew (RFC 9773). */
export type RenewalAdvice = {
  readonly window: RenewalWindow
  /** When to ask again. */
  readonly retryAfterMs: number | undefined
}

/**
 * A certificate authority that speaks ACME. Every call may throw `AuthorityError`; none lasts longer
 * than `CALL_MS_MAX`.
 */
export type CertificateAuthority = {
  /** The address of its directory, by which it is known. */
  readonly directory: string
  /** The names by which CAA records allow it; empty where it does not tell. */
  caaIdentities(): Promise<readonly string[]>
  /** Opens an account, or finds the one that this key has already; returns its address. */
  openAccount(keyPem: string): Promise<string>
  /** @param replaces the renewal identifier of the certificate that this order renews */
  placeOrder(
    account: AuthorityAccount,
    host: string,
    replaces: string | undefined,
  ): Promise<AuthorityOrder>
  readOrder(account: AuthorityAccount, url: string): Promise<AuthorityOrder>
  readAuthorization(account: AuthorityAccount, url: string): Promise<HostAuthorization>
  /** What answers a challenge with this token: its key authorization (RFC 8555, section 8.1). */
  answerTo(account: AuthorityAccount, token: string): Promise<string>
  /** Says that the answer is in place. */
  beginChallenge(account: AuthorityAccount, url: string): Promise<void>
  /** Hands in the request for a certificate over `keyPem` for `host` alone. */
  finalize(
    account: AuthorityAccount,
    order: AuthorityOrder,
    host: string,
    keyPem: string,
  ): Promise<AuthorityOrder>
  /** The certificate and those that it rests on, in PEM. */
  download(account: AuthorityAccount, url: string): Promise<string>
  /**
   * The name under which it gives its advice on a certificate's renewal; undefined for a certificate
   * that has none.
   */
  renewalIdOf(chainPem: string): string | undefined
  /** Undefined where it gives no such advice. */
  adviseRenewal(renewalId: string): Promise<RenewalAdvice | undefined>
  /** Ends what is under way, as `away`. */
  cancel(): void
}

/** The longest that one call to an authority lasts. */
export const CALL_MS_MAX = 30_000
