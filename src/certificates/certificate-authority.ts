import type { RenewalWindow } from './certificate.ts'

/** A registered account with a certificate authority. */
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
  /** Why the order is invalid; undefined where the authority gives no reason here. */
  readonly error: string | undefined
  /** How long the authority asks the client to wait before the next request. */
  readonly retryAfterMs: number | undefined
}

/** How control over a host is proved (RFC 8555, section 8.3; RFC 8737). */
export type ChallengeType = 'http-01' | 'tls-alpn-01'

export type AuthorityChallenge = {
  readonly type: ChallengeType
  readonly url: string
  readonly token: string
  readonly status: 'pending' | 'processing' | 'valid' | 'invalid'
}

/** The authorization of the account for a host (RFC 8555, section 7.1.4). */
export type HostAuthorization = {
  /** `invalid` stands for deactivated, expired and revoked too. */
  readonly status: 'pending' | 'valid' | 'invalid'
  /** Only those of a supported type. */
  readonly challenges: readonly AuthorityChallenge[]
  /** Why a challenge failed. */
  readonly error: string | undefined
  readonly retryAfterMs: number | undefined
}

/** When the authority suggests to renew a certificate (RFC 9773). */
export type RenewalInfo = {
  readonly window: RenewalWindow
  /** How long to wait before asking again. */
  readonly retryAfterMs: number | undefined
}

/**
 * A certificate authority that speaks ACME. Every call may throw `AuthorityError`; none takes longer
 * than `CALL_MS_MAX`.
 */
export type CertificateAuthority = {
  /** The URL of its directory, which identifies the authority. */
  readonly directory: string
  /** The names that permit it in CAA records; empty where the directory lists none. */
  caaIdentities(): Promise<readonly string[]>
  /** Registers an account, or finds the one that has this key; returns its URL. */
  registerAccount(keyPem: string): Promise<string>
  /** @param replaces the renewal identifier of the certificate that this order renews */
  placeOrder(
    account: AuthorityAccount,
    host: string,
    replaces: string | undefined,
  ): Promise<AuthorityOrder>
  readOrder(account: AuthorityAccount, url: string): Promise<AuthorityOrder>
  readAuthorization(account: AuthorityAccount, url: string): Promise<HostAuthorization>
  /** Returns the key authorization for a challenge's token (RFC 8555, section 8.1). */
  keyAuthorization(account: AuthorityAccount, token: string): Promise<string>
  /** Asks the authority to validate the challenge (RFC 8555, section 7.5.1). */
  respondToChallenge(account: AuthorityAccount, url: string): Promise<void>
  /** Submits the certificate signing request for `keyPem` and `host`. */
  finalize(
    account: AuthorityAccount,
    order: AuthorityOrder,
    host: string,
    keyPem: string,
  ): Promise<AuthorityOrder>
  /** Returns the certificate and its chain, in PEM. */
  downloadCertificate(account: AuthorityAccount, url: string): Promise<string>
  /** Returns the identifier for `findRenewalInfo`; undefined for a certificate that has none. */
  renewalIdOf(chainPem: string): string | undefined
  /** Undefined for an authority that does not offer renewal information. */
  findRenewalInfo(renewalId: string): Promise<RenewalInfo | undefined>
  /** Aborts all requests in progress; they fail as `unavailable`. */
  cancel(): void
}

/** The longest that one call to an authority takes. */
export const CALL_MS_MAX = 30_000
