import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { CertificateLife } from '../domains/index.ts'
import type { RenewalWindow } from './certificate.ts'

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
  /** Only challenges of a supported type. */
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

/**
 * Checks that an issued certificate matches its host and key and is valid; returns its validity period.
 *
 * @param issued.now microseconds since the epoch
 * @throws {AuthorityError} `rejected` for a certificate that cannot be used
 */
export function checkIssued(issued: {
  host: string
  chainPem: string
  keyPem: string
  now: number
}): CertificateLife {
  const { host, chainPem, keyPem, now } = issued
  const leaf = parseLeaf(chainPem)
  if (!leaf.checkPrivateKey(createPrivateKey(keyPem))) throw unusable('for another key')
  if (leaf.checkHost(host, { subject: 'never' }) === undefined) throw unusable('for another host')
  const notBefore = leaf.validFromDate.getTime() * 1_000
  const notAfter = leaf.validToDate.getTime() * 1_000
  if (notAfter <= now) throw unusable('that has expired')
  return { notBefore, notAfter }
}

function parseLeaf(chainPem: string): X509Certificate {
  try {
    return new X509Certificate(chainPem)
  } catch {
    throw unusable('that cannot be read')
  }
}

function unusable(reason: string): AuthorityError {
  return new AuthorityError('rejected', `the authority issued a certificate ${reason}`)
}
