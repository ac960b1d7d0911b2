/**
 * The answers to the challenges of a certificate authority. The authority may connect to any node, so
 * the answers come from the store.
 */
export type ChallengeAnswers = {
  /** Returns the body for `http-01` (RFC 8555, section 8.3); undefined without such a challenge. */
  findHttp(host: string, token: string): Promise<string | undefined>
  /**
   * Returns the certificate for `tls-alpn-01` (RFC 8737, section 3); undefined without such a
   * challenge.
   */
  findAlpn(host: string): Promise<{ chainPem: string; keyPem: string } | undefined>
}
