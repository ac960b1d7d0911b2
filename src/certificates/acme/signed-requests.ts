import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from 'jose'
import { AuthorityError } from '../authority-error.ts'
import type { AuthorityHttp, AuthorityResponse } from './authority-http.ts'
import { isBadNonce } from './problem.ts'

const NONCES_MAX = 32
/** If an authority rejects every other nonce, one request in a million still fails. */
const ATTEMPTS_MAX = 20

/**
 * Signs with the account's URL as key id, or with the public key itself while there is no account.
 */
export type Signer = { readonly keyPem: string; readonly accountUrl: string | undefined }

/**
 * Sends signed requests with nonces to an ACME server (RFC 8555, section 6). A request that is rejected
 * for its nonce is signed and sent again with a new one (section 6.5).
 */
export class SignedRequests {
  readonly #http: AuthorityHttp
  readonly #newNonceUrl: () => Promise<string>
  readonly #deadlineMs: number
  readonly #nonces: string[] = []

  /**
   * @param options.newNonceUrl returns the address of the resource that gives nonces
   * @param options.deadlineMs for one request with all its attempts
   */
  constructor(options: {
    http: AuthorityHttp
    newNonceUrl: () => Promise<string>
    deadlineMs: number
  }) {
    this.#http = options.http
    this.#newNonceUrl = options.newNonceUrl
    this.#deadlineMs = options.deadlineMs
  }

  /** @param payload undefined for a POST-as-GET request (section 6.3) */
  async post(
    { keyPem, accountUrl }: Signer,
    url: string,
    payload?: unknown,
    { accept }: { readonly accept?: string } = {},
  ): Promise<AuthorityResponse> {
    const key = createPrivateKey(keyPem)
    const keyHeader = accountUrl === undefined ? { jwk: await publicJwk(key) } : { kid: accountUrl }
    const bytes = Buffer.from(payload === undefined ? '' : JSON.stringify(payload))
    const startedAt = performance.now()
    for (let attempt = 1; ; attempt += 1) {
      const nonce = await this.#takeNonce()
      const signed = await new FlattenedSign(bytes)
        .setProtectedHeader({ alg: 'ES256', ...keyHeader, nonce, url })
        .sign(key)
      const body = JSON.stringify(signed)
      const response = await this.#http.send('POST', url, { body, ...(accept && { accept }) })
      this.#keepNonce(response)
      const isLast = attempt === ATTEMPTS_MAX || performance.now() - startedAt > this.#deadlineMs
      if (!isBadNonce(response) || isLast) return response
    }
  }

  #keepNonce(response: AuthorityResponse): void {
    const nonce = response.header('replay-nonce')
    if (nonce !== undefined && this.#nonces.length < NONCES_MAX) this.#nonces.push(nonce)
  }

  async #takeNonce(): Promise<string> {
    const kept = this.#nonces.pop()
    if (kept !== undefined) return kept
    const response = await this.#http.send('HEAD', await this.#newNonceUrl())
    const nonce = response.header('replay-nonce')
    if (nonce === undefined) {
      throw new AuthorityError('unavailable', 'the authority returned no nonce')
    }
    return nonce
  }
}

/** Returns the key's thumbprint, the second half of a key authorization (RFC 8555, section 8.1). */
export async function thumbprintOf(keyPem: string): Promise<string> {
  return calculateJwkThumbprint(await publicJwk(createPrivateKey(keyPem)))
}

/** Builds an external account binding (RFC 8555, section 7.3.4). */
export async function bindExternalAccount(
  keyPem: string,
  external: { readonly kid: string; readonly hmacKey: string },
  url: string,
): Promise<object> {
  const payload = Buffer.from(JSON.stringify(await publicJwk(createPrivateKey(keyPem))))
  return new FlattenedSign(payload)
    .setProtectedHeader({ alg: 'HS256', kid: external.kid, url })
    .sign(createSecretKey(Buffer.from(external.hmacKey, 'base64url')))
}

function publicJwk(key: KeyObject): Promise<JWK> {
  return exportJWK(createPublicKey(key))
}
