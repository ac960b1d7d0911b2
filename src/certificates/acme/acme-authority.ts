import { z } from 'zod'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type AuthorityAccount,
  type AuthorityChallenge,
  AuthorityError,
  type AuthorityOrder,
  CALL_MS_MAX,
  type CertificateAuthority,
  type ChallengeType,
  type HostAuthorization,
  type RenewalInfo,
} from '../certificate-authority.ts'
import {
  AuthorityHttp,
  type AuthorityResponse,
  bindExternalAccount,
  errorOf,
  parseRetryAfter,
  problemSchema,
  problemText,
  SignedRequests,
  type Signer,
  thumbprintOf,
} from './signed-requests.ts'
import { certificateRequest, renewalIdOf } from './x509.ts'

/** A token is base64url (RFC 8555, section 8.1). It becomes part of a path and a database row. */
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/

export type AcmeOptions = {
  /** The URL of the directory. */
  readonly directory: string
  /** The operator's address, sent to the authority as the account's contact. */
  readonly email: string | undefined
  /** External account binding; `hmacKey` in base64url. */
  readonly external: { readonly kid: string; readonly hmacKey: string } | undefined
  /**
   * CA certificates for the authority's own HTTPS, in PEM; undefined for the defaults of Node.js.
   */
  readonly trusted: readonly string[] | undefined
  /** One of the certificate profiles that the authority lists; undefined for its default. */
  readonly profile: string | undefined
  readonly clock: Clock
}

/** A certificate authority over ACME (RFC 8555), with renewal information (RFC 9773). */
export function acmeAuthority(options: AcmeOptions): CertificateAuthority {
  const { directory, trusted, clock } = options
  const client = new AcmeClient({ directoryUrl: directory, trusted, clock })
  return {
    directory,
    caaIdentities: async () => (await client.getDirectory()).meta?.caaIdentities ?? [],
    registerAccount: (keyPem) => registerAccount(client, options, keyPem),
    placeOrder: (account, host, replaces) =>
      placeOrder(client, { account, host, replaces, profile: options.profile }),
    async readOrder(account, url) {
      return orderOf(client, await client.post(account, url), url)
    },
    readAuthorization: (account, url) => readAuthorization(client, account, url),
    keyAuthorization: async ({ keyPem }, token) => `${token}.${await thumbprintOf(keyPem)}`,
    async respondToChallenge(account, url) {
      await client.post(account, url, {})
    },
    async finalize(account, order, host, keyPem) {
      const csr = certificateRequest(keyPem, host).toString('base64url')
      return orderOf(client, await client.post(account, order.finalizeUrl, { csr }), order.url)
    },
    async downloadCertificate(account, url) {
      return (await client.post(account, url, undefined, 'application/pem-certificate-chain')).text
    },
    renewalIdOf,
    findRenewalInfo: (renewalId) => findRenewalInfo(client, renewalId),
    cancel: () => client.cancel(),
  }
}

async function registerAccount(
  client: AcmeClient,
  { email, external }: AcmeOptions,
  keyPem: string,
): Promise<string> {
  const { newAccount, meta } = await client.getDirectory()
  if (meta?.externalAccountRequired === true && external === undefined) {
    throw new AuthorityError(
      'account',
      'externalAccountRequired: set TERSE_ACME_EAB_KID and TERSE_ACME_EAB_HMAC_KEY',
    )
  }
  const binding = external && (await bindExternalAccount(keyPem, external, newAccount))
  const payload = {
    termsOfServiceAgreed: true,
    ...(email !== undefined && { contact: [`mailto:${email}`] }),
    ...(binding !== undefined && { externalAccountBinding: binding }),
  }
  const signer = { keyPem, accountUrl: undefined }
  return locationOf(await client.postForAccount(signer, newAccount, payload), newAccount)
}

async function placeOrder(
  client: AcmeClient,
  {
    account,
    host,
    replaces,
    profile,
  }: {
    account: AuthorityAccount
    host: string
    replaces: string | undefined
    profile: string | undefined
  },
): Promise<AuthorityOrder> {
  const { newOrder, renewalInfo, meta } = await client.getDirectory()
  if (profile !== undefined && meta?.profiles?.[profile] === undefined) {
    const known = Object.keys(meta?.profiles ?? {}).join(', ') || 'none'
    throw new AuthorityError(
      'account',
      `the profile ${profile} of TERSE_ACME_PROFILE is not among the authority's: ${known}`,
    )
  }
  const payload = {
    identifiers: [{ type: 'dns', value: host }],
    ...(profile !== undefined && { profile }),
  }
  const place = async (body: object) => {
    const response = await client.post(account, newOrder, body)
    return orderOf(client, response, locationOf(response, newOrder))
  }
  const supportsReplaces = renewalInfo !== undefined && replaces !== undefined
  if (!supportsReplaces) return place(payload)
  try {
    return await place({ ...payload, replaces })
  } catch (error) {
    // The authority does not know that certificate, or another order has replaced it already.
    if (!(error instanceof AuthorityError && error.kind === 'rejected')) throw error
    return place(payload)
  }
}

async function readAuthorization(
  client: AcmeClient,
  account: AuthorityAccount,
  url: string,
): Promise<HostAuthorization> {
  const response = await client.post(account, url)
  const { status, challenges } = parseResponse(authorizationSchema, response, url)
  const problem = challenges.find(({ error }) => error !== undefined)?.error
  return {
    status: status === 'pending' || status === 'valid' ? status : 'invalid',
    challenges: challenges.flatMap(supportedChallenge),
    error: problem && problemText(problem),
    retryAfterMs: client.retryAfterMsOf(response),
  }
}

async function findRenewalInfo(
  client: AcmeClient,
  renewalId: string,
): Promise<RenewalInfo | undefined> {
  const { renewalInfo } = await client.getDirectory()
  if (renewalInfo === undefined) return undefined
  const url = `${renewalInfo.replace(/\/$/, '')}/${renewalId}`
  const response = await client.get(url)
  const { start, end } = parseResponse(renewalInfoSchema, response, url).suggestedWindow
  return {
    window: { start: Date.parse(start) * 1_000, end: Date.parse(end) * 1_000 },
    retryAfterMs: client.retryAfterMsOf(response),
  }
}

function orderOf(client: AcmeClient, response: AuthorityResponse, url: string): AuthorityOrder {
  const order = parseResponse(orderSchema, response, url)
  return {
    url,
    status: order.status,
    authorizationUrl: order.authorizations[0],
    finalizeUrl: order.finalize,
    certificateUrl: order.certificate,
    error: order.error && problemText(order.error),
    retryAfterMs: client.retryAfterMsOf(response),
  }
}

function supportedChallenge({
  type,
  url,
  token,
  status = 'pending',
}: z.output<typeof challengeSchema>): AuthorityChallenge[] {
  return isSupported(type) && token !== undefined && TOKEN.test(token)
    ? [{ type, url, token, status }]
    : []
}

function isSupported(type: string): type is ChallengeType {
  return type === 'http-01' || type === 'tls-alpn-01'
}

const REQUEST_TIMEOUT_MS = 8_000
/**
 * Leaves time for fetching the directory and a nonce, so that a call stays within `CALL_MS_MAX`.
 */
const NONCE_DEADLINE_MS = CALL_MS_MAX - 3 * REQUEST_TIMEOUT_MS
const DIRECTORY_CACHE_MICROS = 60 * 60 * 1_000_000

type Directory = z.output<typeof directorySchema>

/** Sends requests to one ACME server and checks the form of its responses. */
class AcmeClient {
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
function locationOf(response: AuthorityResponse, url: string): string {
  const location = response.header('location')
  if (location === undefined || !URL.canParse(location, url)) throw malformedResponse(url)
  return new URL(location, url).href
}

/** @throws {AuthorityError} `unavailable` for a response that does not have the form of RFC 8555 */
function parseResponse<S extends z.ZodType>(
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

const orderSchema = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.tuple([z.url()]),
  finalize: z.url(),
  certificate: z.url().optional(),
  error: problemSchema.optional(),
})

const challengeSchema = z.object({
  type: z.string(),
  url: z.url(),
  token: z.string().optional(),
  status: z.enum(['pending', 'processing', 'valid', 'invalid']).optional(),
  error: problemSchema.optional(),
})

const authorizationSchema = z.object({
  status: z.string(),
  challenges: z.array(challengeSchema),
})

/** RFC 9773, section 4.2. */
const renewalInfoSchema = z.object({
  suggestedWindow: z.object({
    start: z.iso.datetime({ offset: true }),
    end: z.iso.datetime({ offset: true }),
  }),
})
