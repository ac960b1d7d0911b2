import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from 'jose'
import { AuthorityError } from '../authority-error.ts'
import type { AuthorityHttp, AuthorityResponse } from './authority-http.ts'
import { isBadNonce } from './problem.ts'

/** Nonces kept from answers for the requests that follow. */
const NONCES_MAX = 32
/** An authority that rejects every other nonce fails one request in a million by this. */
const NONCE_TRIES_MAX = 20

/** Who signs: by the account's address, or by the key itself while there is no account. */
type Signer = { readonly keyPem: string; readonly accountUrl: string | undefined }

/** Requests to an ACME server, signed and numbered (RFC 8555, section 6). */
export type SignedRequests = {
  /** @param payload left out to read (POST-as-GET, section 6.3) */
  post(
    signer: Signer,
    url: string,
    payload?: unknown,
    options?: { readonly accept?: string },
  ): Promise<AuthorityResponse>
}

/**
 * @param options.newNonceUrl where nonces come from
 * @param options.deadlineMs for one request with all its tries
 */
export function signedRequests(options: {
  http: AuthorityHttp
  newNonceUrl: () => Promise<string>
  deadlineMs: number
}): SignedRequests {
  const { http, newNonceUrl, deadlineMs } = options
  const nonces: string[] = []

  function keepNonce(response: AuthorityResponse): void {
    const nonce = response.header('replay-nonce')
    if (nonce !== undefined && nonces.length < NONCES_MAX) nonces.push(nonce)
  }

  async function takeNonce(): Promise<string> {
    const kept = nonces.pop()
    if (kept !== undefined) return kept
    const nonce = (await http.send('HEAD', await newNonceUrl())).header('replay-nonce')
    if (nonce === undefined) throw new AuthorityError('away', 'the authority gave no nonce')
    return nonce
  }

  return {
    async post({ keyPem, accountUrl }, url, payload, { accept } = {}) {
      const key = createPrivateKey(keyPem)
      const who = accountUrl === undefined ? { jwk: await publicJwk(key) } : { kid: accountUrl }
      const bytes = Buffer.from(payload === undefined ? '' : JSON.stringify(payload))
      const startedAt = performance.now()
      for (let tries = 1; ; tries += 1) {
        const nonce = await takeNonce()
        const signed = await new FlattenedSign(bytes)
          .setProtectedHeader({ alg: 'ES256', ...who, nonce, url })
          .sign(key)
        const body = JSON.stringify(signed)
        const response = await http.send('POST', url, { body, ...(accept && { accept }) })
        keepNonce(response)
        const isLast = tries === NONCE_TRIES_MAX || performance.now() - startedAt > deadlineMs
        if (!isBadNonce(response) || isLast) return response
      }
    },
  }
}

/** The first half of a key authorization is the token, the second this (RFC 8555, section 8.1). */
export async function thumbprintOf(keyPem: string): Promise<string> {
  return calculateJwkThumbprint(await publicJwk(createPrivateKey(keyPem)))
}

/** Ties a new account to one that its owner has with the authority (RFC 8555, section 7.3.4). */
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
