/**
 * What a certificate authority asks of a host to see who is in charge of it. Any node may be asked, so
 * the answers come from the store.
 */
export type ChallengeAnswers = {
  /** The body of the answer to `http-01` (RFC 8555, section 8.3); undefined where nothing is asked. */
  findHttp(host: string, token: string): Promise<string | undefined>
  /** The certificate to show for `tls-alpn-01` (RFC 8737, section 3); undefined where nothing is asked. */
  findAlpn(host: string): Promise<{ chainPem: string; keyPem: string } | undefined>
}
