import { z } from 'zod'
import type { Clock } from '../../platform/time/clock.ts'
import { type AuthorityAccount, AuthorityError, CALL_MS_MAX } from '../certificate-authority.ts'
import { AuthorityHttp, type AuthorityResponse } from './authority-http.ts'
import {
  errorOf,
  parseRetryAfter,
  problemSchema,
  SignedRequests,
  type Signer,
} from './signed-requests.ts'

const REQUEST_TIMEOUT_MS = 8_000
/**
 * Leaves time for fetching the directory and a nonce, so that a call stays within `CALL_MS_MAX`.
 */
const NONCE_DEADLINE_MS = CALL_MS_MAX - 3 * REQUEST_TIMEOUT_MS
const DIRECTORY_CACHE_MICROS = 60 * 60 * 1_000_000

type Directory = z.output<typeof directorySchema>

/** Sends requests to one ACME server and checks the form of its responses. */
export class AcmeClient {
  readonly #directoryUrl: string
  readonly #clock: Clock
  readonly #http: AuthorityHttp
  readonly #requests: SignedRequests
  #cached: { readonly at: number; readonly directory: Directory } | undefined

  /** @param options.trusted as in `AuthorityHttp` */
  constructor(options: {
    directoryUrl: string
    trusted: readonly string[] | undefined
    clock: Clock
  }) {
    this.#directoryUrl = options.directoryUrl
    this.#clock = options.clock
    this.#http = new AuthorityHttp({ trusted: options.trusted, timeoutMs: REQUEST_TIMEOUT_MS })
    this.#requests = new SignedRequests({
      http: this.#http,
      newNonceUrl: async () => (await this.getDirectory()).newNonce,
      deadlineMs: NONCE_DEADLINE_MS,
    })
  }

  /** Returns the directory (RFC 8555, section 7.1.1), cached for an hour. */
  async getDirectory(): Promise<Directory> {
    const url = this.#directoryUrl
    const now = this.#clock.nowMicros()
    if (this.#cached !== undefined && Math.abs(now - this.#cached.at) <= DIRECTORY_CACHE_MICROS) {
      return this.#cached.directory
    }
    const response = await this.#http.send('GET', url)
    if (response.status !== 200) throw errorOf(response, url, this.#nowMs(), 'unavailable')
    const directory = parseResponse(directorySchema, response, url)
    this.#cached = { at: now, directory }
    return directory
  }

  /** Reads a resource without a signature, as renewal information allows. */
  async get(url: string): Promise<AuthorityResponse> {
    const response = await this.#http.send('GET', url)
    if (response.status !== 200) throw errorOf(response, url, this.#nowMs())
    return response
  }

  /** @param payload undefined for a POST-as-GET request (RFC 8555, section 6.3) */
  async post(
    account: AuthorityAccount,
    url: string,
    payload?: unknown,
    accept?: string,
  ): Promise<AuthorityResponse> {
    const signer = { keyPem: account.keyPem, accountUrl: account.url }
    const response = await this.#requests.post(signer, url, payload, accept ? { accept } : {})
    if (response.status >= 300) throw errorOf(response, url, this.#nowMs())
    return response
  }

  /** Sends a request about the account itself: any unknown problem is one of the account. */
  async postForAccount(signer: Signer, url: string, payload: unknown): Promise<AuthorityResponse> {
    const response = await this.#requests.post(signer, url, payload)
    if (response.status >= 300) throw errorOf(response, url, this.#nowMs(), 'account')
    return response
  }

  retryAfterMsOf(response: AuthorityResponse): number | undefined {
    return parseRetryAfter(response.header('retry-after'), this.#nowMs())
  }

  /** Aborts all requests in progress. */
  cancel(): void {
    this.#http.cancel()
  }

  #nowMs(): number {
    return this.#clock.nowMicros() / 1_000
  }
}

/** Returns the address of a resource that the server has just created. */
export function locationOf(response: AuthorityResponse, url: string): string {
  const location = response.header('location')
  if (location === undefined || !URL.canParse(location, url)) throw malformedResponse(url)
  return new URL(location, url).href
}

/** @throws {AuthorityError} `unavailable` for a response that does not have the form of RFC 8555 */
export function parseResponse<S extends z.ZodType>(
  schema: S,
  response: AuthorityResponse,
  url: string,
): z.output<S> {
  try {
    return schema.parse(JSON.parse(response.text))
  } catch (cause) {
    throw malformedResponse(url, cause)
  }
}

function malformedResponse(url: string, cause?: unknown): AuthorityError {
  const { host } = new URL(url)
  return new AuthorityError('unavailable', `${host} sent a response that is not valid ACME`, {
    cause,
  })
}

/** The resources of RFC 8555, section 7.1, with the fields that are used here. */
const directorySchema = z.object({
  newNonce: z.url(),
  newAccount: z.url(),
  newOrder: z.url(),
  renewalInfo: z.url().optional().catch(undefined),
  meta: z
    .object({
      caaIdentities: z.array(z.string()).optional().catch(undefined),
      externalAccountRequired: z.boolean().optional().catch(undefined),
      profiles: z.record(z.string(), z.unknown()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
})

export const orderSchema = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.tuple([z.url()]),
  finalize: z.url(),
  certificate: z.url().optional(),
  error: problemSchema.optional(),
})

export const challengeSchema = z.object({
  type: z.string(),
  url: z.url(),
  token: z.string().optional(),
  status: z.enum(['pending', 'processing', 'valid', 'invalid']).optional(),
  error: problemSchema.optional(),
})

export const authorizationSchema = z.object({
  status: z.string(),
  challenges: z.array(challengeSchema),
})

/** RFC 9773, section 4.2. */
export const renewalInfoSchema = z.object({
  suggestedWindow: z.object({
    start: z.iso.datetime({ offset: true }),
    end: z.iso.datetime({ offset: true }),
  }),
})
