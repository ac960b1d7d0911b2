/** Why a sign-in with the provider failed, as the address of the sign-in page names it. */
export type OidcFaultCode =
  /** The provider cannot be reached, or does not answer in time. */
  | 'oidc_unavailable'
  /** The person or the provider refused. */
  | 'oidc_denied'
  /** The answer is not one to a sign-in that this browser began in the last minutes, or was used before. */
  | 'oidc_expired'
  /** The answer of the provider is not valid. */
  | 'oidc_failed'
  /** The account with the provider leads to no person who may sign in. */
  | 'oidc_unknown'
  /** The account with the provider leads to another person. */
  | 'oidc_linked_elsewhere'
  /** The session with which the link was begun has ended. */
  | 'oidc_session_ended'
  /** The invitation is used, expired or withdrawn. */
  | 'oidc_invitation'
  /** A new person needs the link that was mailed to the address of the invitation. */
  | 'oidc_mailed_link'
  /** The address of the invitation belongs to a person, who must sign in before accepting it. */
  | 'oidc_address_taken'

/** A sign-in with the provider that cannot go on. */
export class OidcFault extends Error {
  override readonly name = 'OidcFault'
  readonly code: OidcFaultCode
  /** For the log; never a secret. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: OidcFaultCode, details: Readonly<Record<string, unknown>> = {}) {
    super(`single sign-on: ${code}`)
    this.code = code
    this.details = details
  }
}
