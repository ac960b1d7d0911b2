import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { Agent, type RequestOptions, request } from 'node:https'
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from 'jose'
import { z } from 'zod'
import { VERSION } from '../../platform/process/version.ts'
import { AuthorityError, type AuthorityErrorKind } from '../certificate-authority.ts'

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

const PREFIX = 'urn:ietf:params:acme:error:'

/** A problem document (RFC 7807) as ACME uses it (RFC 8555, section 6.7). */
export const problemSchema = z.object({
  type: z.string().catch('about:blank'),
  detail: z.string().catch(''),
  subproblems: z
    .array(z.object({ type: z.string().catch(''), detail: z.string().catch('') }))
    .optional()
    .catch(undefined),
})

type Problem = z.output<typeof problemSchema>

/** What each ACME error type means for the caller; all others are `rejected`. */
const KINDS: Readonly<Record<string, AuthorityErrorKind>> = {
  badNonce: 'unavailable',
  serverInternal: 'unavailable',
  rateLimited: 'rateLimited',
  accountDoesNotExist: 'account',
  userActionRequired: 'account',
  externalAccountRequired: 'account',
}

function isBadNonce(response: AuthorityResponse): boolean {
  return response.status === 400 && problemOf(response)?.type === `${PREFIX}badNonce`
}

/** Formats a problem for people: its type, then the authority's own words. */
export function problemText({ type, detail, subproblems = [] }: Problem): string {
  const name = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type
  const details = [detail, ...subproblems.map((each) => each.detail)].filter((text) => text !== '')
  return [name, ...details].join(': ')
}

/**
 * Turns an error response into an `AuthorityError`.
 *
 * @param fallback the kind for a problem that is not in the table
 */
export function errorOf(
  response: AuthorityResponse,
  url: string,
  nowMs: number,
  fallback: AuthorityErrorKind = 'rejected',
): AuthorityError {
  const { status } = response
  const retryAfterMs = parseRetryAfter(response.header('retry-after'), nowMs)
  const problem = problemOf(response)
  // Some authorities answer 404 without a problem document for an order that they have dropped.
  if (problem === undefined && status === 404 && fallback === 'rejected') {
    return new AuthorityError('notFound', `${new URL(url).host} no longer knows the order`)
  }
  if (problem === undefined || status >= 500) {
    const detail = problem === undefined ? '' : `: ${problemText(problem)}`
    const { host } = new URL(url)
    return new AuthorityError('unavailable', `${host} answered with status ${status}${detail}`, {
      retryAfterMs,
    })
  }
  const name = problem.type.startsWith(PREFIX) ? problem.type.slice(PREFIX.length) : ''
  const kind = KINDS[name] ?? (status === 404 ? 'notFound' : fallback)
  return new AuthorityError(kind, problemText(problem), { retryAfterMs })
}

function problemOf({ text }: AuthorityResponse): Problem | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** A longer wait is taken for an error of the authority. */
const RETRY_AFTER_MS_MAX = 30 * 24 * 60 * 60 * 1_000

/**
 * Returns the milliseconds of a `Retry-After` header, which holds seconds or a date (RFC 9110, section
 * 10.2.3); undefined for anything else.
 */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX)
}

/** No response that ACME defines comes near this size. */
const BODY_BYTES_MAX = 256 * 1024

export type AuthorityResponse = {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

/**
 * HTTPS requests to one certificate authority. Every failure is an `AuthorityError`, `unavailable`.
 */
export class AuthorityHttp {
  readonly #timeoutMs: number
  readonly #agent: Agent
  readonly #cancelled = new AbortController()

  /**
   * @param options.trusted CA certificates for the authority's own HTTPS, in PEM; undefined for the
   *   defaults of Node.js
   * @param options.timeoutMs for one request, from its start to the end of the response
   */
  constructor(options: { trusted: readonly string[] | undefined; timeoutMs: number }) {
    const { trusted, timeoutMs } = options
    this.#timeoutMs = timeoutMs
    this.#agent = new Agent({
      keepAlive: true,
      ...(trusted !== undefined && { ca: [...trusted] }),
    })
  }

  send(
    method: 'GET' | 'HEAD' | 'POST',
    url: string,
    { body, accept }: { readonly body?: string; readonly accept?: string } = {},
  ): Promise<AuthorityResponse> {
    const requestOptions: RequestOptions & { signal: AbortSignal } = {
      method,
      agent: this.#agent,
      signal: AbortSignal.any([this.#cancelled.signal, AbortSignal.timeout(this.#timeoutMs)]),
      headers: {
        'user-agent': `terse/${VERSION}`,
        'accept-language': 'en',
        ...(accept !== undefined && { accept }),
        ...(body !== undefined && {
          'content-type': 'application/jose+json',
          'content-length': Buffer.byteLength(body),
        }),
      },
    }
    return exchange(url, requestOptions, body)
  }

  /** Aborts all requests in progress, and those that are sent later. */
  cancel(): void {
    this.#cancelled.abort()
    this.#agent.destroy()
  }
}

function exchange(
  url: string,
  options: RequestOptions & { signal: AbortSignal },
  body: string | undefined,
): Promise<AuthorityResponse> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      const reason = options.signal.aborted ? String(options.signal.reason) : cause.message
      const { host } = new URL(url)
      reject(new AuthorityError('unavailable', `${host} did not answer: ${reason}`, { cause }))
    }
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > BODY_BYTES_MAX) response.destroy(new Error('the response is too long'))
        else chunks.push(chunk)
      })
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          header: (name) => [response.headers[name]].flat()[0],
          text: Buffer.concat(chunks).toString('utf8'),
        })
      })
    })
    sent.on('error', fail)
    sent.end(body)
  })
}
